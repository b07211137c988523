# A client of a Sourdine server for R. It needs the package httr2, with jsonlite for JSON.
#
#   source("sourdine.R")
#   server <- sourdine_server("https://statistics.example", Sys.getenv("TOKEN"))
#   wages <- sourdine_session(server, "wages")
#   answer <- sourdine_release(wages, "mean", column = "wage", epsilon = 0.1)
#   answer$value; answer$interval$ends; answer$cost$epsilon; answer$mechanism; answer$caveats
#
# Vectors become JSON lists and single values stay single: write keys = list("north") for a list
# of one. Lists of numbers or texts come back as vectors, lists of pairs as matrices.

sourdine_attempts <- 6
sourdine_again <- c(500, 502, 503, 504) # what a server or a proxy says when it does not know

# Return a server, by its address and a token that `sourdine serve token` or its pages made.
# The address begins with https, unless the server is on this machine. `pause` is the number of
# seconds before a second attempt, `patience` how many seconds to wait for an answer.
sourdine_server <- function(url, token, pause = 0.1, patience = 300) {
  here <- grepl("^http://(localhost|127(\\.[0-9]+){3}|\\[::1\\])(:[0-9]+)?(/|$)", url)
  if (!here && !grepl("^https://[^/]", url)) {
    sourdine_stop("url must begin with https://, unless the server is on this machine.")
  }
  if (!is.character(token) || !grepl("^[!-~]+$", token)) {
    sourdine_stop("token must be a token issued by the server. Create a new one there.")
  }
  url <- sub("/+$", "", url)
  seen <- new.env() # how far ledgers had got

  # Send a request until there is an answer that says something.
  sent <- function(method, path, headers, body) {
    request <- httr2::request(paste0(url, "/api/v1", path))
    request <- httr2::req_method(request, method)
    request <- httr2::req_headers(request, Authorization = paste("Bearer", token), !!!headers)
    request <- httr2::req_error(request, is_error = function(answer) FALSE)
    request <- httr2::req_timeout(request, patience)
    request <- httr2::req_options(request, followlocation = 0L)
    if (here) request <- httr2::req_options(request, noproxy = "*") # it would see the token
    if (!is.null(body)) {
      # 15 digits: an epsilon of 0.1 is sent, and charged, as the decimal 0.1
      text <- jsonlite::toJSON(body, auto_unbox = TRUE, digits = NA, null = "null")
      request <- httr2::req_body_raw(request, charToRaw(enc2utf8(text)), "application/json")
    }
    broken <- ""
    for (attempt in seq_len(sourdine_attempts)) {
      if (attempt > 1) Sys.sleep(pause * 2^(attempt - 2))
      answer <- tryCatch(httr2::req_perform(request), error = function(error) NULL)
      if (is.null(answer)) {
        broken <- "no connection"
      } else if (httr2::resp_status(answer) %in% sourdine_again) {
        broken <- paste("status", httr2::resp_status(answer))
      } else {
        return(answer)
      }
    }
    sourdine_stop(sprintf(
      paste("%s could not be reached after %d attempts (%s).",
            "The request may have been charged: check the history."),
      url, sourdine_attempts, broken
    ))
  }

  # Refuse a ledger that is behind what was seen before the request was sent.
  look <- function(dataset, before, answer) {
    line <- as.numeric(httr2::resp_header(answer, "ledger-line"))
    if (length(line) == 0) return(invisible())
    if (!is.null(before) && (line < before$line ||
        !identical(httr2::resp_header(answer, "ledger-seen"), before$head))) {
      sourdine_stop(sprintf(
        paste("The ledger of %s does not hold line %.0f as it was seen before.",
              "Tell its owner: the missing lines were charged and released."),
        dataset, before$line
      ))
    }
    seen[[dataset]] <- list(line = line, head = httr2::resp_header(answer, "ledger-head"))
  }

  ask <- function(method, path, dataset = NULL, body = NULL, key = NULL) {
    before <- if (is.null(dataset)) NULL else seen[[dataset]]
    headers <- list()
    if (!is.null(key)) headers[["idempotency-key"]] <- key
    if (!is.null(before)) headers[["ledger-line"]] <- sprintf("%.0f", before$line)
    place <- if (is.null(dataset)) "" else {
      paste0("/datasets/", utils::URLencode(dataset, reserved = TRUE))
    }
    answer <- sent(method, paste0(place, path), headers, body)
    status <- httr2::resp_status(answer)
    found <- tryCatch(
      jsonlite::fromJSON(
        httr2::resp_body_string(answer, "UTF-8"),
        simplifyVector = TRUE, simplifyDataFrame = FALSE
      ),
      error = function(error) NULL
    )
    if (status < 200 || status >= 300) {
      said <- if (is.list(found)) found$detail
      if (is.null(said)) said <- sprintf("The server refused the request, status %d.", status)
      sourdine_stop(said, c(if (is.list(found)) found, list(http_status = status)))
    }
    if (!is.null(dataset)) look(dataset, before, answer)
    found
  }
  structure(list(url = url, ask = ask), class = "sourdine_server")
}

# Return the data sets that you may see: names, totals, what was spent, your grants.
sourdine_datasets <- function(server) server$ask("GET", "/datasets")

# Return the questions about a data set, whose total is shared with everybody who may ask.
sourdine_session <- function(server, name) {
  structure(list(server = server, name = name), class = "sourdine_session")
}

# Return what is public: columns, bounds, keys, the total, what was spent, your grant.
sourdine_facts <- function(session) session$server$ask("GET", "", session$name)

# Return what is left of the total, and of your grant if you have one.
sourdine_remaining <- function(session) {
  facts <- sourdine_facts(session)
  list(total = facts$remaining, grant = facts$grant$remaining)
}

# Return what an epsilon buys or an error costs; spends nothing.
sourdine_plan <- function(session, statistic, ...) {
  session$server$ask("POST", "/plan", session$name, list(statistic = statistic, ...))
}

# Return whether a question would be admitted now; charges nothing.
sourdine_can_release <- function(session, statistic, ...) {
  session$server$ask("POST", "/can-release", session$name, list(statistic = statistic, ...))
}

# Charge a question once and return its answer: value, interval, cost, mechanism, caveats.
# The statistic is any, such as "mean" or "table"; its parameters are named as in Python.
sourdine_release <- function(session, statistic, ...) {
  sourdine_released(session, list(statistic = statistic, ...))[[1]]
}

# Charge several questions at once, a list of lists, and return their answers, or refuse them all.
sourdine_release_all <- function(session, questions) {
  sourdine_released(session, list(questions = questions))
}

sourdine_released <- function(session, body) {
  # not of R's generator, whose numbers repeat after set.seed: the same key is the same request
  key <- paste(as.character(openssl::rand_bytes(16)), collapse = "")
  found <- session$server$ask("POST", "/releases", session$name, body, key)
  if (found$state != "answered") {
    sourdine_stop(
      "The answer could not be drawn. Its cost was charged before any data were read."
    )
  }
  found$answers
}

# Return the charges of everybody, the first one first; answers are there to your own.
sourdine_history <- function(session) {
  most <- 1000
  found <- list()
  repeat {
    path <- sprintf("/releases?after=%d&most=%d", length(found), most)
    charges <- session$server$ask("GET", path, session$name)$charges
    found <- c(found, charges)
    if (length(charges) < most) return(found)
  }
}

# Raise a condition of class sourdine_error; `facts` holds the parameter's `name`, what it `must`
# be, what the server `got`, a `hint`, values to try (`tries`) and the `http_status`, where known.
sourdine_stop <- function(message, facts = list()) {
  stop(structure(
    list(message = message, call = NULL, facts = facts),
    class = c("sourdine_error", "error", "condition")
  ))
}

print.sourdine_server <- function(x, ...) cat("<Sourdine server ", x$url, ">\n", sep = "")

print.sourdine_session <- function(x, ...) {
  cat("<Sourdine session: ", x$name, " at ", x$server$url, ">\n", sep = "")
}
