// Package cloud is a client of the cloud API in JSON: requests that are safe to repeat, errors with their code, tasks.
package cloud

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	requestLimit = time.Minute
	bodyLimit    = 64 << 20
)

// Client sends requests as one user.
type Client struct {
	base      *url.URL
	http      *http.Client
	authorize func(*http.Request)
	agent     string
}

// Settings say which cloud, and as whom.
type Settings struct {
	URL   string
	Token string
	// CA is the certificate of the issuer in PEM. Default: the issuers of the system.
	CA    string
	Agent string
}

// New returns a client; it sends nothing yet.
func New(settings Settings) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(settings.URL, "/"))
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a cloud: write https://cloud.example", settings.URL)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 32
	if settings.CA != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(settings.CA)) {
			return nil, errors.New("the CA certificate is not PEM: name a file that begins with -----BEGIN CERTIFICATE-----")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &Client{
		base: base,
		http: &http.Client{
			Transport: transport,
			Timeout:   requestLimit,
			// The token must not reach another server: a redirection is an error response.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		authorize: bearer(settings.Token),
		agent:     settings.Agent,
	}, nil
}

func bearer(token string) func(*http.Request) {
	return func(request *http.Request) { request.Header.Set("Authorization", "Bearer "+token) }
}

// WithToken returns the same client for another user's token.
func (c *Client) WithToken(token string) *Client {
	other := *c
	other.authorize = bearer(token)
	return &other
}

// LogIn begins a session with a password. The caller ends it with LogOut.
func (c *Client) LogIn(ctx context.Context, user, password string) (*Client, error) {
	basic := *c
	basic.authorize = func(request *http.Request) { request.SetBasicAuth(user, password) }
	response, err := basic.send(ctx, call{method: http.MethodPost, path: "/api/sessions"})
	if err != nil {
		return nil, err
	}
	return c.WithToken(response.header.Get("X-Cloud-Authorization")), nil
}

// LogOut ends a session that LogIn began.
func (c *Client) LogOut(ctx context.Context) error { return c.Remove(ctx, "/api/session") }

// Get reads a document.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, call{method: http.MethodGet, path: path}, into)
}

// Post sends a document, nil for none, and reads the one in the response.
func (c *Client) Post(ctx context.Context, path string, body, into any) error {
	return c.do(ctx, call{method: http.MethodPost, path: path, body: body}, into)
}

// PostAs is Post with a key of the caller, for a request that is sent again after the caller undid it.
func (c *Client) PostAs(ctx context.Context, key, path string, body, into any) error {
	return c.do(ctx, call{method: http.MethodPost, path: path, body: body, key: key}, into)
}

// Put changes a document, and reads the one in the response.
func (c *Client) Put(ctx context.Context, path string, body, into any) error {
	return c.do(ctx, call{method: http.MethodPut, path: path, body: body}, into)
}

// Remove deletes what is gone when it returns; Act is for what a task deletes.
func (c *Client) Remove(ctx context.Context, path string) error {
	err := c.do(ctx, call{method: http.MethodDelete, path: path}, nil)
	// A request of this call deleted it, and the answer was lost.
	if IsGone(err) && MayBeDone(err) {
		return nil
	}
	return err
}

// Act sends a request whose response is a task, and waits for that task. With nil the request has no body.
func (c *Client) Act(ctx context.Context, method, path string, body any) error {
	var task Task
	if err := c.do(ctx, call{method: method, path: path, body: body}, &task); err != nil {
		return err
	}
	return c.Wait(ctx, task)
}

type call struct {
	method string
	path   string
	body   any
	// Default: a new one.
	key string
}

type response struct {
	header http.Header
	body   []byte
}

func (c *Client) do(ctx context.Context, call call, into any) error {
	response, err := c.send(ctx, call)
	if err != nil || into == nil || len(response.body) == 0 {
		return err
	}
	if err := json.Unmarshal(response.body, into); err != nil {
		return fmt.Errorf("%s %s: the response is not what this release of the provider expects: %w", call.method, call.path, err)
	}
	return nil
}

// The key is of the call, not of the request: the cloud returns the same task however often the call is sent.
func (c *Client) send(ctx context.Context, call call) (response, error) {
	var body []byte
	if call.body != nil {
		written, err := json.Marshal(call.body)
		if err != nil {
			return response{}, err
		}
		body = written
	}
	key := call.key
	if key == "" && call.method != http.MethodGet {
		key = rand.Text()
	}
	pause := newPause()
	for repeated := 0; ; repeated++ {
		received, err := c.once(ctx, call, body, key)
		var refused *Error
		if errors.As(err, &refused) {
			refused.Repeated = repeated > 0
		}
		if !pause.again(ctx, err) {
			return received, err
		}
	}
}

func (c *Client) once(ctx context.Context, call call, body []byte, key string) (response, error) {
	request, err := http.NewRequestWithContext(ctx, call.method, c.base.String()+call.path, bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	c.authorize(request)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.agent)
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
		// Otherwise net/http repeats a request with a key by itself, and a name that it took looks like another's.
		request.GetBody = nil
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	received, err := c.http.Do(request)
	if err != nil {
		return response{}, &unanswered{err}
	}
	defer received.Body.Close()
	text, err := io.ReadAll(io.LimitReader(received.Body, bodyLimit))
	if err != nil {
		return response{}, &unanswered{err}
	}
	if received.StatusCode >= http.StatusMultipleChoices {
		return response{}, errorOf(received, text)
	}
	return response{header: received.Header, body: text}, nil
}

// Address is the whole address of a path, for documents that name another resource.
func (c *Client) Address(path string) string { return c.base.String() + path }
