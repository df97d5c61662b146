# Mixed models of ratings.csv and of the labels of ../study/annotations.csv by R 4.2 (lme4 1.1-31, ordinal 2022.11-16):
#   Rscript figures.R ratings.csv ../study/annotations.csv > figures.json
suppressPackageStartupMessages({library(lme4); library(ordinal); library(jsonlite)})
paths <- commandArgs(TRUE)
ratings <- read.csv(paths[1], stringsAsFactors = TRUE)
study <- read.csv(paths[2], stringsAsFactors = FALSE)
score <- c(bot = 0, unsure = 1, human = 2)
labels <- rbind(
  data.frame(bot = study$first, dialogue = study$conversation, annotator = study$annotator, value = score[study$label_first]),
  data.frame(bot = study$second, dialogue = study$conversation, annotator = study$annotator, value = score[study$label_second]))
labels <- labels[labels$bot != "HU", ]
linear <- function(d) {
  fit <- lmer(value ~ 0 + bot + (1 | dialogue) + (1 | annotator), d, REML = TRUE,
              control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10), calc.derivs = FALSE))
  sd <- as.data.frame(VarCorr(fit))
  list(bots = levels(factor(d$bot)), estimate = unname(fixef(fit)), covariance = unname(as.matrix(vcov(fit))),
       sd = setNames(as.list(sd$sdcor), sd$grp), log_likelihood = as.numeric(logLik(fit)))
}
cumulative <- function(d) {
  d$value <- factor(d$value, ordered = TRUE)
  fit <- clmm(value ~ bot + (1 | dialogue) + (1 | annotator), d, Hess = TRUE, link = "logit",
              control = clmm.control(grtol = 1e-8, innerCtrl = "noWarn"))
  at <- names(fit$beta)
  list(bots = levels(factor(d$bot)), thresholds = unname(fit$alpha), estimate = c(0, unname(fit$beta)),
       covariance = unname(vcov(fit)[at, at]), threshold_errors = unname(sqrt(diag(vcov(fit)))[names(fit$alpha)]),
       sd = lapply(VarCorr(fit), function(v) sqrt(v[1, 1])), log_likelihood = as.numeric(logLik(fit)))
}
# Two categories are a logistic mixed model, whose Laplace approximation lme4 has, too.
binary <- function(d) {
  fit <- glmer(value ~ bot + (1 | dialogue) + (1 | annotator), d, family = binomial,
               control = glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10)))
  at <- seq_along(fixef(fit))[-1]
  list(bots = levels(factor(d$bot)), thresholds = -unname(fixef(fit)[1]), estimate = c(0, unname(fixef(fit)[at])),
       covariance = unname(as.matrix(vcov(fit))[at, at]), sd = lapply(VarCorr(fit), function(v) sqrt(v[1, 1])),
       log_likelihood = as.numeric(logLik(fit)))
}
sets <- c(lapply(split(ratings, ratings$data), droplevels), list(study = labels))
high <- lapply(sets[c("balanced", "unbalanced")], function(d) transform(d, value = as.numeric(value > 3)))
cat(toJSON(list(
  made_by = paste(R.version.string, "lme4", packageVersion("lme4"), "ordinal", packageVersion("ordinal")),
  linear = lapply(sets, linear), cumulative = lapply(sets, cumulative),
  two_categories = lapply(high, cumulative), logistic = lapply(high, binary)),
  digits = NA, auto_unbox = TRUE, pretty = TRUE))
