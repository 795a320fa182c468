// Runs in a page before the scripts of the app: it counts the requests of the app, so that a test knows when a page has all its data.
let pending = 0
let changedAt = 0
/** The texts of the cloud's answers, which are not words of the app. */
const data = new Set<string>()

const learn = (value: unknown): void => {
  if (typeof value === 'string') data.add(value)
  else if (typeof value === 'object' && value !== null) Object.values(value).forEach(learn)
}

const originalFetch = window.fetch
window.fetch = async (input, init) => {
  pending++
  const end = (): void => void setTimeout(() => pending--)
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
new MutationObserver(() => (changedAt = performance.now())).observe(document, watched)

/** Resolves when the app shows a heading, requests nothing, and has changed nothing for a few frames. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      const hasLeft = document.querySelector('[data-left]') === null
      const isQuiet = pending === 0 && performance.now() - changedAt > 80
      const isShown = document.querySelector('h1') !== null && document.fonts.status === 'loaded'
      if (hasLeft && isQuiet && isShown) resolve()
      else requestAnimationFrame(look)
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
  return settled()
}

Object.assign(window, { probe: { data, settled, visit } })
