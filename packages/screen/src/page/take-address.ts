// This script runs first, before any other file is requested by a script: it removes the ticket from the address bar, and so
// from the history and from every referrer. It is not a module, because modules are deferred.
;(() => {
  const { pathname, search } = location
  const kept: unknown = history.state
  if (search !== '') history.replaceState({ hadTicket: true }, '', pathname)
  Object.defineProperty(globalThis, 'takenAddress', {
    configurable: true,
    value: { pathname, search, kept },
  })
})()
