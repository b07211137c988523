"""Accuracy theorems as plain functions, corrected, with the printed form beside each wrong one.

``x`` is the form that holds; ``x_printed``, where there is one, is what the report prints, and its
text says what is wrong with it. Epsilon is the total of a call; where a theorem is about one of
nine calls, ``calls=9`` divides it. Everything is a function of public numbers, but for `exact_miss`
and `exact_epsilon`, which take public or simulated data.

Canesse 2022 (private quantiles):

==================================  ==============================================================
`above_threshold_alpha`             lemma 3.2.0.1: AboveThreshold is accurate
`histogram_accuracy`                theorem 3.4.1.2: histogram method, uniform sample, probability
`histogram_error`                   theorem 3.4.1.3, corollary 3.4.1.1: its expected error
`histogram_asymptotic`              theorem 3.4.2.1, corollary 3.4.2.1: the rate
`normal_quantile`                   lemma 3.5.0.1: deciles of the normal law
`normal_eta`, `normal_mu`           lemmas 3.5.0.2 and 3.5.0.3 (C.0.0.1 and C.0.0.2)
`normal_accuracy`                   theorem 3.5.0.1 (C.0.0.1): histogram method, normal sample
`inverse_sensitivity_sample`        theorem 4.2.1.1 (B.0.0.1): distance to the sample's quantile
`inverse_sensitivity_population`    theorems 4.2.1.2 and 4.3.0.1: to the law's quantile
`inverse_sensitivity_error`         theorem 4.3.0.2: expected error, uniform sample
==================================  ==============================================================

Audibert 2024 (means, quantiles, lower bounds):

==================================  ==============================================================
`mean_risk`, `mean_risk_laplace`    section 3.3: quadratic risks of a mean
`mean_risk_gaussian`                the same with Gaussian noise
`rank_error`, `rank_epsilon`        section 4.1.2, after Kaplan, Schnapp and Stemmer 2022
`exact_epsilon`                     the smallest epsilon for a target (figure 7), by the law
`proportion_is_unbiased`            section 6.1, first proposition
`unbiased_lower_bound`              section 6.1, theorem, after Asi and Duchi 2020
`proportion_loss`                   section 6.1, second proposition, for every n
`proportion_limit`                  the same as n grows
`proportion_tail`                   section 6.2: the limit is a Dirac mass
==================================  ==============================================================

Dubois, Butucea, Kroll and Saumard 2019 (densities under local privacy):

==================================  ==============================================================
`density_rate`, `density_is_dense`  proposition 2.1: the rates and the elbow
`density_rate_open`                 the rate without privacy
`density_risk_at_least`             a lower bound over a Besov ball, with its constant
`two_densities_risk`                its proof's step for two densities, with the constant
==================================  ==============================================================
"""

from sourdine_lab.bounds.above_threshold import (
    above_threshold_alpha,
    above_threshold_alpha_printed,
    above_threshold_alpha_sharp,
    above_threshold_noise,
)
from sourdine_lab.bounds.density import (
    density_is_dense,
    density_rate,
    density_rate_open,
    density_risk_at_least,
    two_densities_risk,
)
from sourdine_lab.bounds.histogram_normal import (
    normal_accuracy,
    normal_accuracy_exact,
    normal_accuracy_printed,
    normal_eta,
    normal_eta_printed,
    normal_mu,
    normal_quantile,
)
from sourdine_lab.bounds.histogram_uniform import (
    histogram_accuracy,
    histogram_accuracy_printed,
    histogram_asymptotic,
    histogram_asymptotic_printed,
    histogram_asymptotic_sharp,
    histogram_error,
    histogram_error_printed,
    histogram_least_n,
    histogram_least_n_printed,
    histogram_steps,
)
from sourdine_lab.bounds.inverse_sensitivity import (
    inverse_sensitivity_error,
    inverse_sensitivity_error_printed,
    inverse_sensitivity_population,
    inverse_sensitivity_population_printed,
    inverse_sensitivity_sample,
    inverse_sensitivity_sample_printed,
    inverse_sensitivity_uniform_printed,
)
from sourdine_lab.bounds.means import (
    gaussian_constant,
    mean_risk,
    mean_risk_gaussian,
    mean_risk_laplace,
)
from sourdine_lab.bounds.proportion import (
    proportion_distance,
    proportion_is_unbiased,
    proportion_limit,
    proportion_limit_printed,
    proportion_loss,
    proportion_tail,
    unbiased_lower_bound,
)
from sourdine_lab.bounds.quantile_exponential import (
    exact_epsilon,
    exact_miss,
    rank_epsilon,
    rank_error,
    spread,
    spread_printed,
)

__all__ = [
    "above_threshold_alpha",
    "above_threshold_alpha_printed",
    "above_threshold_alpha_sharp",
    "above_threshold_noise",
    "density_is_dense",
    "density_rate",
    "density_rate_open",
    "density_risk_at_least",
    "exact_epsilon",
    "exact_miss",
    "gaussian_constant",
    "histogram_accuracy",
    "histogram_accuracy_printed",
    "histogram_asymptotic",
    "histogram_asymptotic_printed",
    "histogram_asymptotic_sharp",
    "histogram_error",
    "histogram_error_printed",
    "histogram_least_n",
    "histogram_least_n_printed",
    "histogram_steps",
    "inverse_sensitivity_error",
    "inverse_sensitivity_error_printed",
    "inverse_sensitivity_population",
    "inverse_sensitivity_population_printed",
    "inverse_sensitivity_sample",
    "inverse_sensitivity_sample_printed",
    "inverse_sensitivity_uniform_printed",
    "mean_risk",
    "mean_risk_gaussian",
    "mean_risk_laplace",
    "normal_accuracy",
    "normal_accuracy_exact",
    "normal_accuracy_printed",
    "normal_eta",
    "normal_eta_printed",
    "normal_mu",
    "normal_quantile",
    "proportion_distance",
    "proportion_is_unbiased",
    "proportion_limit",
    "proportion_limit_printed",
    "proportion_loss",
    "proportion_tail",
    "rank_epsilon",
    "rank_error",
    "spread",
    "spread_printed",
    "two_densities_risk",
    "unbiased_lower_bound",
]
