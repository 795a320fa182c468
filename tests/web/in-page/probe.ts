// Runs in a page before the scripts of the app: it counts the requests of the app, so that a test knows when a page has all its data.
const pending = new Set<{ readonly url: string }>()
let changedAt = 0
let changed = ''
/** Not by frames: a page that draws none has its data all the same. */
const LOOK_MS = 20
/** For whatever a page does on a busy machine. */
const PATIENCE_MS = 60_000
/** The texts of the cloud's answers, which are not words of the app. */
const data = new Set<string>()

const learn = (value: unknown): void => {
  if (typeof value === 'string') data.add(value)
  else if (typeof value === 'object' && value !== null) Object.values(value).forEach(learn)
}

const originalFetch = window.fetch
window.fetch = async (input, init) => {
  const request = { url: input instanceof Request ? input.url : String(input) }
  pending.add(request)
  const end = (): void => void setTimeout(() => pending.delete(request))
  try {
    const response = await originalFetch(input, init)
    const type = response.headers.get('content-type') ?? ''
    if (type.includes('event-stream')) end()
    else
      void response
        .clone()
        .text()
        .then((text) => type.includes('json') && text !== '' && learn(JSON.parse(text)))
        // A request that the app no longer needs is aborted.
        .catch(() => undefined)
        .finally(end)
    return response
  } catch (error) {
    end()
    throw error
  }
}
const watched = { subtree: true, childList: true, characterData: true, attributes: true }
new MutationObserver(([first]) => {
  changedAt = performance.now()
  changed = `${first?.type} of ${first?.target.nodeName} in ${first?.target.parentElement?.className}`
}).observe(document, watched)

/** What a page that is not settled waits for. */
function reasons(): readonly string[] {
  const found = [...pending].map(({ url }) => `the response to ${url}`)
  if (document.querySelector('[data-left]') !== null) found.push('the end of the page before')
  if (document.querySelector('h1') === null) found.push('a heading')
  if (document.fonts.status !== 'loaded') found.push('its fonts')
  if (performance.now() - changedAt <= 80) found.push(`the end of changes: ${changed}`)
  return found
}

/** Resolves when the app shows a heading, requests nothing, and has changed nothing for a few frames. */
const settled = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      const shown = document.body.innerText.slice(0, 300)
      const missing = reasons().join(', ')
      reject(new Error(`${location.href} waits for ${missing}; it shows: ${shown}`))
    }, PATIENCE_MS)
    const look = (): void => {
      if (reasons().length > 0) return void setTimeout(look, LOOK_MS)
      clearTimeout(late)
      resolve()
    }
    look()
  })

/** Goes to an address of the app as a link does. */
const visit = (to: string): Promise<void> => {
  // The page of another address replaces the one that is shown.
  if (new URL(to, location.href).pathname !== location.pathname)
    document.querySelector('#main > :last-child')?.setAttribute('data-left', '')
  history.pushState(null, '', to)
  dispatchEvent(new PopStateEvent('popstate'))
  // That nothing changed before says nothing about the page that comes.
  changedAt = performance.now()
  return settled()
}

Object.assign(window, { probe: { data, settled, visit } })
