package cloud

import (
	"context"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// How long a call is repeated while the cloud does not answer or is not available: longer than a cell needs to start again.
const retryLimit = 5 * time.Minute

const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 5 * time.Second
)

type pause struct {
	until time.Time
	next  time.Duration
}

func newPause() *pause { return &pause{until: time.Now().Add(retryLimit), next: shortestPause} }

// Waits if the error is temporary. It returns false if the call is over.
func (p *pause) again(ctx context.Context, err error) bool {
	if err == nil || !temporary(err) || time.Now().After(p.until) {
		return false
	}
	wait := p.next/2 + rand.N(p.next)
	p.next = min(p.next*2, longestPause)
	var refused *Error
	if errors.As(err, &refused) && refused.retryAfter > 0 {
		wait = max(wait, min(refused.retryAfter, time.Minute))
	}
	return Rest(ctx, wait)
}

// Rest waits. It returns false if the context ended first.
func Rest(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func temporary(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	var lost *unanswered
	if !errors.As(err, &lost) || errors.Is(err, context.Canceled) {
		return false
	}
	// A certificate that is not trusted stays so.
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return !errors.As(err, &unknown) && !errors.As(err, &name) && !errors.As(err, &invalid)
}
