package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is an error response of the cloud, in its own words.
type Error struct {
	Status  int
	Code    string
	Message string
	Request string
	// Repeated: an earlier request of the same call may have been carried out.
	Repeated   bool
	retryAfter time.Duration
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s (%s, %d)", e.Message, e.Code, e.Status)
	if e.Request != "" {
		text += ", request " + e.Request
	}
	if e.Status == http.StatusUnauthorized {
		text += ". Create an API token in the web UI under Settings, and set SKERRY_TOKEN to it"
	}
	return text
}

// No response came: the cell ended, or the network did.
type unanswered struct{ cause error }

func (u *unanswered) Error() string {
	return fmt.Sprintf("no response: %v. Check url, SKERRY_URL, and the CA certificate", u.cause)
}
func (u *unanswered) Unwrap() error { return u.cause }

// IsGone says whether the resource does not exist.
func IsGone(err error) bool { return hasStatus(err, http.StatusNotFound) }

// IsConflict says whether the resource is in the wrong state, or its name is taken.
func IsConflict(err error) bool { return hasStatus(err, http.StatusConflict) }

// IsUnauthenticated says whether the token is not valid.
func IsUnauthenticated(err error) bool { return hasStatus(err, http.StatusUnauthorized) }

// MayBeDone says whether an earlier request of the same call may have been carried out.
func MayBeDone(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Repeated
}

func hasStatus(err error, status int) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == status
}

func errorOf(received *http.Response, text []byte) error {
	refused := &Error{
		Status:  received.StatusCode,
		Code:    "UNKNOWN",
		Message: received.Status,
		Request: received.Header.Get("X-Request-Id"),
	}
	var document struct {
		MinorErrorCode string `json:"minorErrorCode"`
		Message        string `json:"message"`
	}
	if json.Unmarshal(text, &document) == nil && document.Message != "" {
		refused.Code, refused.Message = document.MinorErrorCode, document.Message
	}
	if seconds, err := strconv.Atoi(received.Header.Get("Retry-After")); err == nil {
		refused.retryAfter = time.Duration(seconds) * time.Second
	}
	return refused
}
