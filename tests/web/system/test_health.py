"""What the metrics of a service say of its health."""

from spotthebot.web.system.domain import health_of


class TestHealth:
    def test_counts_requests_and_own_faults_of_all_routes(self):
        metrics = """\
# HELP http_requests_total Requests answered.
http_requests_total{method="GET",route="/v1/a/{b}",service="x",status="200"} 7.0
http_requests_total{method="POST",route="/v1/a",service="x",status="503"} 2.0
http_requests_total{method="GET",route="/v1/500",service="x",status="404"} 1e+01
http_request_duration_seconds_sum{method="GET",route="/v1/a/{b}",service="x"} 0.9
http_request_duration_seconds_sum{method="POST",route="/v1/a",service="x"} 1.0
spotthebot_build{service="x",version="1.2.3"} 1.0
"""
        found = health_of("x", None, metrics)
        assert (found.requests, found.own_faults, found.mean_ms, found.release) == (19, 2, 100.0, "1.2.3")

    def test_a_service_that_says_nothing_is_not_known(self):
        found = health_of("x", "no answer", None)
        assert (found.reason, found.requests, found.mean_ms) == ("no answer", None, None)
        assert health_of("x", None, "").mean_ms is None
