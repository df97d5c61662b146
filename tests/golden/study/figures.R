# Figures of annotations.csv by R 4.2 (packages sandwich 3.0, survival 3.5, BradleyTerry2 1.1, jsonlite):
#   Rscript figures.R annotations.csv > figures.json
suppressPackageStartupMessages({library(sandwich); library(BradleyTerry2); library(jsonlite)})
d <- read.csv(commandArgs(TRUE)[1], stringsAsFactors = FALSE)
score <- c(bot = 0, unsure = 1, human = 2)
sides <- rbind(
  data.frame(conversation = d$conversation, annotator = d$annotator, exchanges = d$exchanges, bot = d$first,
             label = d$label_first, fluency = d$lead_fluency, sensibleness = d$lead_sensibleness,
             specificity = d$lead_specificity),
  data.frame(conversation = d$conversation, annotator = d$annotator, exchanges = d$exchanges, bot = d$second,
             label = d$label_second, fluency = -d$lead_fluency, sensibleness = -d$lead_sensibleness,
             specificity = -d$lead_specificity))
# The jackknife over clusters of a mean is the cluster-level HC3 of Bell and McCaffrey, which sandwich gives with the
# factor (G - 1) / G.
jackknife <- function(fit, cluster) vcovCL(fit, cluster = cluster, type = "HC3", cadjust = FALSE)[1, 1]
of_share <- function(hit, conversation, annotator) {
  fit <- lm(hit ~ 1)
  parts <- list(estimate = mean(hit), n = length(hit), conversation = jackknife(fit, conversation),
                annotator = jackknife(fit, annotator), both = jackknife(fit, paste(conversation, annotator)),
                single = jackknife(fit, seq_along(hit)))
  parts$variance <- max(parts$conversation + parts$annotator - parts$both, parts$single)
  worth <- function(cluster) { w <- table(cluster); sum(w)^2 / sum(w^2) - 1 }
  parts$degrees <- parts$variance^2 /
    (parts$conversation^2 / worth(conversation) + parts$annotator^2 / worth(annotator))
  q <- qt(.975, parts$degrees)
  p <- parts$estimate
  n <- min(p * (1 - p) / parts$variance, parts$n)
  w <- q^2 / n
  parts$low <- (p + w / 2 - sqrt(w * (p * (1 - p) + w / 4))) / (1 + w)
  parts$high <- (p + w / 2 + sqrt(w * (p * (1 - p) + w / 4))) / (1 + w)
  parts$p_even <- 2 * pt(-abs(2 * (p - .5) * sqrt(n)), parts$degrees)
  parts
}
names_of <- sort(unique(sides$bot))
fooling <- lapply(setNames(names_of, names_of), function(b) {
  s <- sides[sides$bot == b, ]
  of_share(as.numeric(s$label == "human"), s$conversation, s$annotator)
})
bots <- setdiff(names_of, "HU")
pairs <- combn(bots, 2, simplify = FALSE)
games <- lapply(pairs, function(p) {
  g <- d[(d$first == p[1] & d$second == p[2]) | (d$first == p[2] & d$second == p[1]), ]
  lead <- sign(score[g$label_first] - score[g$label_second]) * ifelse(g$first == p[1], 1, -1)
  won <- lead[lead != 0] > 0
  c(list(bot = p[1], other = p[2], wins = sum(won), losses = sum(!won), ties = sum(lead == 0),
         p_sign = binom.test(sum(won), length(won))$p.value,
         p_chi_square = chisq.test(matrix(c(sum(won), length(lead) - sum(won), sum(!won), length(lead) - sum(!won)), 2),
                                   correct = TRUE)$p.value),
    list(clustered = of_share(as.numeric(won), g$conversation[lead != 0], g$annotator[lead != 0])))
})
p_sign <- sapply(games, function(g) g$p_sign)
p_clustered <- sapply(games, function(g) g$clustered$p_even)
# Survival of current-status data: one minus the isotonic regression of the shares spotted, weighted by the inspections.
survival <- lapply(setNames(names_of, names_of), function(b) {
  s <- sides[sides$bot == b, ]
  spotted <- tapply(s$label == "bot", s$exchanges, mean)
  n <- table(s$exchanges)
  # Pool adjacent violators by hand: isoreg takes no weights.
  value <- as.numeric(spotted); weight <- as.numeric(n); size <- rep(1, length(value))
  i <- 1
  while (i < length(value)) {
    if (value[i] > value[i + 1]) {
      value[i] <- sum(value[i:(i + 1)] * weight[i:(i + 1)]) / sum(weight[i:(i + 1)])
      weight[i] <- sum(weight[i:(i + 1)]); size[i] <- sum(size[i:(i + 1)])
      value <- value[-(i + 1)]; weight <- weight[-(i + 1)]; size <- size[-(i + 1)]; i <- max(1, i - 1)
    } else i <- i + 1
  }
  1 - rep(value, size)
})
# Cox's model of current-status data: complementary log-log, an intercept for each inspection time, while they ascend.
cox <- lapply(setNames(bots, bots), function(b) {
  s <- sides[sides$bot == b, ]
  fit <- glm((label == "bot") ~ 0 + factor(exchanges) + fluency + sensibleness + specificity,
             family = binomial("cloglog"), data = s, control = list(epsilon = 1e-14, maxit = 100))
  list(intercepts = unname(coef(fit)[1:3]), coefficients = as.list(coef(fit)[4:6]),
       ascending = !is.unsorted(coef(fit)[1:3]))
})
strength <- {
  table <- do.call(rbind, lapply(games, function(g) data.frame(bot = factor(g$bot, bots), other = factor(g$other, bots),
                                                              wins = g$wins, losses = g$losses)))
  fit <- BTm(cbind(wins, losses), bot, other, data = table)
  all <- c(0, unname(coef(fit)))
  setNames(as.list(all - mean(all)), bots)
}
alpha <- function(metric) {
  u <- rbind(data.frame(unit = paste(d$conversation, d$exchanges, 1), value = score[d$label_first]),
             data.frame(unit = paste(d$conversation, d$exchanges, 2), value = score[d$label_second]))
  o <- matrix(0, 3, 3)
  for (v in split(u$value, u$unit)) if (length(v) > 1) for (i in seq_along(v)) for (j in seq_along(v)) if (i != j)
    o[v[i] + 1, v[j] + 1] <- o[v[i] + 1, v[j] + 1] + 1 / (length(v) - 1)
  m <- rowSums(o); n <- sum(o)
  delta <- outer(1:3, 1:3, Vectorize(function(a, b) {
    if (a == b) return(0)
    if (metric == "nominal") 1 else (sum(m[min(a, b):max(a, b)]) - (m[a] + m[b]) / 2)^2
  }))
  1 - (n - 1) * sum(o * delta) / sum(outer(m, m) * delta)
}
share_of <- function(a) {
  s <- sides[sides$annotator == a & sides$label != "unsure", ]
  mean(ifelse(s$bot == "HU", s$label == "human", s$label == "bot"))
}
cat(toJSON(list(
  made_by = paste(R.version.string, "sandwich", packageVersion("sandwich"), "BradleyTerry2", packageVersion("BradleyTerry2")),
  fooling = fooling, pairs = games, holm_sign = p.adjust(p_sign, "holm"), holm_clustered = p.adjust(p_clustered, "holm"),
  survival = survival, cox = cox, bradley_terry = strength, alpha = list(ordinal = alpha("ordinal"), nominal = alpha("nominal")),
  correctness = mean(sapply(sort(unique(sides$annotator)), share_of)), median_seconds = median(d$elapsed_ms) / 1000
), auto_unbox = TRUE, digits = NA, pretty = TRUE), "\n")
