# Every call of the client once; the answers as JSON.
words <- commandArgs(trailingOnly = TRUE)
source(words[1])
set.seed(1)

server <- sourdine_server(words[2], words[3], pause = 0.001)
people <- sourdine_session(server, "people")
caught <- function(work) {
  tryCatch(
    {
      work
      NULL
    },
    sourdine_error = function(error) {
      c(list(kind = class(error)[1], message = conditionMessage(error)), error$facts)
    }
  )
}
found <- list(
  datasets = sourdine_datasets(server),
  facts = sourdine_facts(people),
  before = sourdine_remaining(people),
  plan = sourdine_plan(people, "mean", column = "age", error = 2),
  can = sourdine_can_release(people, "mean", column = "age", epsilon = 0.123456),
  mean = sourdine_release(people, "mean", column = "age", epsilon = 0.25),
  table = sourdine_release(people, "table", by = "sex", of = list(age = list("mean")), epsilon = 0.25),
  all = sourdine_release_all(people, list(
    list(statistic = "count", epsilon = 0.25),
    list(statistic = "quantiles", q = c(0.25, 0.75), column = "age", epsilon = 0.25)
  )),
  wrong = caught(sourdine_release(people, "mean", column = "age", epsilon = -1)),
  unknown = caught(sourdine_facts(sourdine_session(server, "no such"))),
  dear = caught(sourdine_release(people, "mean", column = "age", epsilon = 100000)),
  insecure = caught(sourdine_server("http://statistics.example", words[3])),
  after = sourdine_remaining(people),
  history = sourdine_history(people)
)
cat(jsonlite::toJSON(found, auto_unbox = TRUE, digits = I(17), null = "null"))
