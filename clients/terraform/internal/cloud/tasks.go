package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A task that waits for longer is reported, with the reason for which it waits.
const taskLimit = 30 * time.Minute

const (
	firstLook   = 100 * time.Millisecond
	longestLook = 2 * time.Second
	cancelLimit = 10 * time.Second
)

// Task is an operation of the cloud that takes a while.
type Task struct {
	Href      string `json:"href"`
	Status    string `json:"status"`
	Operation string `json:"operation"`
	Error     *struct {
		MinorErrorCode string `json:"minorErrorCode"`
		Message        string `json:"message"`
	} `json:"error"`
	Waiting *struct {
		Message string `json:"message"`
		Next    string `json:"next"`
	} `json:"waiting"`
}

// Tasks are those of a resource.
type Tasks struct {
	Task []Task `json:"task"`
}

// Wait returns when the task ended. If the context ends first, the task is canceled.
func (c *Client) Wait(ctx context.Context, task Task) error {
	until := time.Now().Add(taskLimit)
	for look := firstLook; ; look = min(look*3/2, longestLook) {
		switch task.Status {
		case "success":
			return nil
		case "error", "canceled":
			return failed(task)
		}
		if time.Now().After(until) {
			return fmt.Errorf("%s did not end within %s%s", task.Operation, taskLimit, why(task))
		}
		if !Rest(ctx, look) {
			return errors.Join(ctx.Err(), c.cancel(ctx, task))
		}
		if err := c.Get(ctx, "/api/task/"+ID(task.Href), &task); err != nil {
			return fmt.Errorf("%s: %w", task.Operation, err)
		}
	}
}

// WaitAll waits for the tasks that a document names.
func (c *Client) WaitAll(ctx context.Context, tasks *Tasks) error {
	if tasks == nil {
		return nil
	}
	for _, task := range tasks.Task {
		if err := c.Wait(ctx, task); err != nil {
			return err
		}
	}
	return nil
}

// WaitQuiet waits for the tasks that others began, whatever their result. It says whether one was open.
func (c *Client) WaitQuiet(ctx context.Context, tasks *Tasks) (bool, error) {
	if tasks == nil {
		return false, nil
	}
	open := false
	for _, task := range tasks.Task {
		if task.Status != "queued" && task.Status != "running" {
			continue
		}
		open = true
		if err := c.Wait(ctx, task); ctx.Err() != nil {
			return open, err
		}
	}
	return open, nil
}

func (c *Client) cancel(ctx context.Context, task Task) error {
	over, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer stop()
	_, err := c.once(over, call{method: http.MethodPost, path: "/api/task/" + ID(task.Href) + "/action/cancel"}, nil, "")
	if IsConflict(err) {
		return nil
	}
	return err
}

func failed(task Task) error {
	if task.Error != nil {
		return fmt.Errorf("%s: %s (%s)", task.Operation, task.Error.Message, task.Error.MinorErrorCode)
	}
	return fmt.Errorf("%s: the task was canceled. Apply again", task.Operation)
}

func why(task Task) string {
	if task.Waiting == nil {
		return ""
	}
	return fmt.Sprintf(": it waits for %s; %s", task.Waiting.Message, task.Waiting.Next)
}
