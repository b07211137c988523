"""What a sanitised table, or the reports of many people, say about all of them."""
