// The first thing that runs, before any other file is asked for by a script: the ticket leaves the address bar, and with it
// this entry of the history and everything that would tell the address on. It is no module, because modules wait.
;(() => {
  const { pathname, search } = location
  const kept: unknown = history.state
  if (search !== '') history.replaceState({ hadTicket: true }, '', pathname)
  Object.defineProperty(globalThis, 'takenAddress', {
    configurable: true,
    value: { pathname, search, kept },
  })
})()
