// Runs in a page of another origin while a user is logged in: everything that such a page can try, and what it achieved.
interface Targets {
  /** The origin of the cloud. */
  readonly cloud: string
  readonly vm: string
  readonly compose: string
  readonly console: string
}

const ACCEPT = 'application/*+json;version=5.1'
const PATIENCE_MS = 4000
/** For a refusal that must come, on a busy machine too. */
const REFUSED_MS = 60_000

/** What an element or a socket does first; undefined: nothing in time. */
const first = (
  ms: number,
  target: EventTarget,
  ...names: readonly string[]
): Promise<string | undefined> =>
  new Promise((resolve) => {
    for (const name of names) target.addEventListener(name, () => resolve(name))
    setTimeout(() => resolve(undefined), ms)
  })

const achieved: string[] = []

async function fetchAll({ cloud, vm, compose }: Targets): Promise<void> {
  const reads = [
    `${cloud}/api/session`,
    `${cloud}/api/query?type=vm`,
    vm,
    `${cloud}/ui/config.json`,
  ]
  const changes = [`${vm}/power/action/powerOn`, compose, `${cloud}/api/sessions`]
  const json = { accept: ACCEPT, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'hostile', powerOn: true })
  const requests: [string, RequestInit][] = [
    ...reads.flatMap((url): [string, RequestInit][] => [
      [url, {}],
      [url, { headers: { accept: ACCEPT } }],
      [url, { mode: 'no-cors' }],
    ]),
    ...changes.flatMap((url): [string, RequestInit][] => [
      [url, { method: 'POST', body, headers: json }],
      [url, { method: 'POST', body, mode: 'no-cors' }],
      [url, { method: 'POST', mode: 'no-cors', keepalive: true }],
    ]),
    [vm, { method: 'DELETE' }],
    [`${cloud}/api/session`, { method: 'DELETE' }],
  ]
  for (const [url, options] of requests) {
    const text = await fetch(url, { credentials: 'include', ...options }).then(
      (response) => response.text(),
      () => '',
    )
    if (text !== '') achieved.push(`read ${url}: ${text.slice(0, 100)}`)
  }
  for (const url of changes) navigator.sendBeacon(url, body)
}

async function embedAll({ cloud, vm }: Targets): Promise<void> {
  for (const url of [`${vm}/screen`, `${cloud}/ui/icon.svg`]) {
    const image = new Image()
    const ended = first(PATIENCE_MS, image, 'load', 'error')
    image.src = url
    if ((await ended) === 'load') achieved.push(`image ${url}`)
  }
  for (const url of [`${cloud}/api/query?type=vm`, `${cloud}/ui/config.json`]) {
    const script = document.createElement('script')
    const ended = first(PATIENCE_MS, script, 'load', 'error')
    script.src = url
    document.head.append(script)
    if ((await ended) === 'load') achieved.push(`script ${url}`)
  }
  for (const url of [`${cloud}/ui/vms`, `${cloud}/api/session`]) {
    const frame = document.createElement('iframe')
    const ended = first(PATIENCE_MS, frame, 'load', 'error')
    frame.src = url
    document.body.append(frame)
    await ended
    if (frame.contentDocument?.body.textContent) achieved.push(`frame ${url}`)
  }
}

async function submitAll({ cloud, vm, compose }: Targets): Promise<void> {
  for (const action of [`${vm}/power/action/powerOn`, compose, `${cloud}/api/sessions`]) {
    const frame = document.createElement('iframe')
    frame.name = `frame-${document.querySelectorAll('iframe').length}`
    const form = document.createElement('form')
    Object.assign(form, { action, method: 'post', target: frame.name, enctype: 'text/plain' })
    const field = document.createElement('input')
    Object.assign(field, { name: '{"name":"hostile","powerOn":true,"x":"', value: '"}' })
    form.append(field)
    document.body.append(frame, form)
    const ended = first(PATIENCE_MS, frame, 'load')
    form.submit()
    await ended
  }
}

async function connectAll(targets: Targets): Promise<void> {
  const events = new EventSource(`${targets.cloud}/api/events`, { withCredentials: true })
  const stream = await first(REFUSED_MS, events, 'open', 'message', 'error')
  if (stream !== 'error') achieved.push(`events: ${stream}`)
  events.close()
  for (const url of [targets.console, targets.cloud.replace('https', 'wss')]) {
    const socket = new WebSocket(url)
    const reached = await first(PATIENCE_MS, socket, 'open', 'message', 'error', 'close')
    if (reached === 'open' || reached === 'message') achieved.push(`socket ${url}`)
    socket.close()
  }
}

async function openWindow({ cloud, vm }: Targets): Promise<void> {
  const answered = first(PATIENCE_MS, window, 'message')
  const opened = window.open(`${cloud}/ui/vms`)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it has one
  for (const data of [{ type: 'delete', vm }, vm]) opened?.postMessage(data, '*')
  if ((await answered) !== undefined) achieved.push('an answer to a message')
  try {
    if (opened?.document.body.textContent) achieved.push('the document of the window')
  } catch {
    // The origin of another page cannot be read.
  }
  opened?.postMessage({ type: 'delete', vm }, '*')
  opened?.close()
}

/** Tries everything, and returns what was read or connected. What changed is in the database. */
async function attack(targets: Targets): Promise<string[]> {
  for (const each of [fetchAll, embedAll, submitAll, connectAll, openWindow]) await each(targets)
  return achieved
}
Object.assign(window, { hostile: { attack } })
