// What a client that oapi-codegen generated does: it logs in, lists the VMs, powers one on, follows the task and reads the VM.
// Arguments: url, org, user, password; SSL_CERT_FILE names the CA of the address.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path"
	"time"

	"skerry.example/openapi-go/cloud"
)

const look = 500 * time.Millisecond

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func hold(holds bool, found ...any) {
	if !holds {
		must(fmt.Errorf("unexpected: %s", fmt.Sprint(found...)))
	}
}

func asJSON(_ context.Context, request *http.Request) error {
	request.Header.Set("Accept", "application/json")
	return nil
}

func newClient(url string, credentials cloud.RequestEditorFn) *cloud.ClientWithResponses {
	client, err := cloud.NewClientWithResponses(url,
		cloud.WithRequestEditorFn(asJSON), cloud.WithRequestEditorFn(credentials))
	must(err)
	return client
}

func basic(user, password string) cloud.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(user, password)
		return nil
	}
}

func bearer(token string) cloud.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func vmsIn(ctx context.Context, api *cloud.ClientWithResponses, status string) []cloud.VMRecord {
	filter := "status==" + status
	listed, err := api.QueryVmsWithResponse(ctx, &cloud.QueryVmsParams{Filter: &filter})
	must(err)
	hold(listed.JSON200 != nil, listed.Status(), string(listed.Body))
	hold(int(listed.JSON200.Total) == len(listed.JSON200.VmRecord), string(listed.Body))
	return listed.JSON200.VmRecord
}

func main() {
	url, org, user, password := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	ctx := context.Background()
	name := user + "@" + org

	refused, err := newClient(url, basic(name, "wrong")).CreateSessionWithResponse(ctx, nil)
	must(err)
	hold(refused.JSONDefault != nil && refused.JSONDefault.MajorErrorCode == 401, string(refused.Body))

	created, err := newClient(url, basic(name, password)).CreateSessionWithResponse(ctx, nil)
	must(err)
	hold(created.JSON200 != nil && created.JSON200.User == user, string(created.Body))
	api := newClient(url, bearer(*created.Headers200.XCloudAuthorization))

	off := vmsIn(ctx, api, "POWERED_OFF")
	hold(len(off) == 1 && *off[0].VdcName == "main", off)
	vm := path.Base(*off[0].Href)

	key := "once"
	var task string
	for range 2 {
		started, err := api.PowerOnWithResponse(ctx, vm, &cloud.PowerOnParams{IdempotencyKey: &key})
		must(err)
		hold(started.JSON202 != nil, started.Status(), string(started.Body))
		hold(task == "" || task == path.Base(*started.JSON202.Href), task)
		task = path.Base(*started.JSON202.Href)
	}
	for {
		read, err := api.ReadTaskWithResponse(ctx, task)
		must(err)
		hold(read.JSON200 != nil, read.Status(), string(read.Body))
		status := read.JSON200.Status
		if status == cloud.TaskStatusSuccess {
			break
		}
		hold(status == cloud.TaskStatusQueued || status == cloud.TaskStatusRunning, string(read.Body))
		time.Sleep(look)
	}

	entity, err := api.ReadEntityWithResponse(ctx, vm, &cloud.ReadEntityParams{})
	must(err)
	hold(entity.JSON200 != nil, entity.Status(), string(entity.Body))
	document, err := entity.JSON200.AsVm()
	must(err)
	on := vmsIn(ctx, api, "POWERED_ON")
	hold(len(on) == 1 && *on[0].Name == document.Name, on)
	fmt.Println(*on[0].Name, *on[0].Status)
	ended, err := api.DeleteSessionWithResponse(ctx, &cloud.DeleteSessionParams{})
	must(err)
	hold(ended.StatusCode() == http.StatusNoContent, ended.Status())
}
