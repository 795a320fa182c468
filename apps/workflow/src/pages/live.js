// Updates the state, the drawing and the log of a run live. Without this script the page reloads periodically.
const run = document.querySelector('[data-events]')
if (run) {
  const state = document.querySelector('#state')
  const step = document.querySelector('#step')
  const drawing = document.querySelector('.drawing')
  const log = document.querySelector('#log tbody')
  let shown = Number(run.getAttribute('data-seen'))
  const source = new EventSource(run.getAttribute('data-events'))
  // The available actions have changed: reload.
  const lookAgain = () => {
    source.close()
    location.reload()
  }
  source.addEventListener('log', (event) => {
    const line = JSON.parse(event.data)
    const number = Number(event.lastEventId)
    if (number <= shown || !log) return
    shown = number
    const row = log.insertRow()
    row.className = `log-${line.severity}`
    row.setAttribute('role', 'row')
    const time = document.createElement('time')
    time.dateTime = line.at
    time.textContent = `${line.at.slice(0, 19).replace('T', ' ')} UTC`
    for (const [label, value] of [
      ['Time', time],
      ['Event', line.summary],
      ['Details', line.detail],
    ]) {
      const cell = row.insertCell()
      cell.setAttribute('role', 'cell')
      cell.setAttribute('data-label', label)
      if (value !== '') cell.append(value)
    }
  })
  source.addEventListener('execution', (event) => {
    const now = JSON.parse(event.data)
    const before = state.textContent
    if (step) step.textContent = now['current-item-display-name'] ?? ''
    if (drawing) {
      const next = new URL(drawing.src)
      next.searchParams.set('n', String(Date.now()))
      drawing.src = next.href
    }
    if (now.state === before) return
    state.textContent = now.state
    state.className = `state state-${now.state}`
    if (['completed', 'failed', 'canceled'].includes(now.state)) lookAgain()
  })
  // A run may wait for an answer while another branch continues, so its state is not enough.
  let asked = run.getAttribute('data-asked')
  source.addEventListener('interaction', (event) => {
    const now = JSON.parse(event.data).id ?? ''
    if (now !== asked) lookAgain()
    asked = now
  })
}
