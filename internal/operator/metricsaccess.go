package operator

import (
	"net/http"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Whoever reaches the port of the metrics causes a TokenReview by each new token. These bounds are for all of them
// together: reviewsPerSecond, after reviewsAtOnce at first, and scrapesAtOnce requests that are being answered. Reviews
// of tokens that were accepted are remembered for a minute.
const reviewsPerSecond, reviewsAtOnce, scrapesAtOnce = 5, 10, 10

// metricsAccess lets those read metrics who may get their path. It asks the API server with a client of its own, so
// that who floods the port takes no requests from reconciles; what cannot be a token is not asked about.
func metricsAccess(config *rest.Config, client *http.Client) (server.Filter, error) {
	config = rest.CopyConfig(config)
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(reviewsPerSecond, reviewsAtOnce)
	reviewed, err := filters.WithAuthenticationAndAuthorization(config, client)
	if err != nil {
		return nil, err
	}
	return func(log logr.Logger, metrics http.Handler) (http.Handler, error) {
		asks, err := reviewed(log, metrics)
		if err != nil {
			return nil, err
		}
		places := make(chan struct{}, scrapesAtOnce)
		return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
			if !bearsJWT(request) {
				http.Error(answer, "Unauthorized: metrics take the token of a service account", http.StatusUnauthorized)
				return
			}
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				asks.ServeHTTP(answer, request)
			default:
				answer.Header().Set("Retry-After", "1")
				http.Error(answer, "Too many requests", http.StatusTooManyRequests)
			}
		}), nil
	}, nil
}

// bearsJWT reports whether a request bears what may be a JSON Web Token: three parts, the first of which begins as JSON
// does in base64.
func bearsJWT(request *http.Request) bool {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(strings.TrimSpace(token), "eyJ") &&
		strings.Count(token, ".") == 2
}
