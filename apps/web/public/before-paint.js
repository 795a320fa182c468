// Before the first paint: theme, and an early request for the configuration.
;(function () {
  window.skerryConfig = fetch('/ui/config.json', { credentials: 'same-origin' }).then(
    function (response) {
      return response.json()
    },
  )
  window.skerryConfig.catch(function () {})
  var root = document.documentElement
  try {
    var theme = localStorage.getItem('skerry.theme')
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
    var density = localStorage.getItem('skerry.density')
    if (density) root.dataset.density = density
  } catch {}

  // A script of another version is missing: load again.
  addEventListener(
    'error',
    function (event) {
      var target = event.target
      if (!target || target.tagName !== 'SCRIPT') return
      var tries = Number(sessionStorage.getItem('skerry.reloads') || 0)
      if (tries > 4) return
      sessionStorage.setItem('skerry.reloads', String(tries + 1))
      setTimeout(function () {
        location.reload()
      }, 2000)
    },
    true,
  )
})()
