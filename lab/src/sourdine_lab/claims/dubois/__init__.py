"""The claims of Dubois, Butucea, Kroll and Saumard 2019."""
