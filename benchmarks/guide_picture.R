# Draw the picture of the guide to clients: Rscript guide_picture.R CLIENT URL TOKEN PNG
words <- commandArgs(trailingOnly = TRUE)
source(words[1])
people <- sourdine_session(sourdine_server(words[2], words[3]), "people")

answer <- sourdine_release(
  people, "quantiles", column = "wage", q = seq(0.1, 0.9, 0.1), step = 1, epsilon = 0.1
)
ends <- answer$interval$ends
percent <- 100 * answer$question$q

png(words[4], width = 1050, height = 560, res = 150)
par(mar = c(4, 4.5, 2, 0.5), mgp = c(2.5, 0.8, 0), las = 1, cex.main = 1, font.main = 1)
plot(percent, answer$value, ylim = range(0, ends), pch = 19, col = "#1f5f99", bty = "l", yaxt = "n",
     xlab = "percent of people with at most this wage", ylab = "", xaxt = "n")
axis(1, at = percent)
axis(2, at = pretty(c(0, ends)), labels = format(pretty(c(0, ends)), big.mark = ",", trim = TRUE))
segments(percent, ends[1, ], percent, ends[2, ], lwd = 2, col = "#1f5f99")
title(sprintf("Deciles of wages, epsilon %g, 95%% intervals", answer$cost$decimal$epsilon), adj = 0)
invisible(dev.off())
