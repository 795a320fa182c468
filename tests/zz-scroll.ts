import { startBrowser } from './web/browser.ts'
import { startSimulatedCell } from './web/simulated-cell/server.ts'
const cell = await startSimulatedCell()
const browser = await startBrowser(cell)
const page = await browser.open({ user: 'root@System', path: '/admin/vms' })
await page.getByRole('row').nth(5).waitFor()
await page.waitForLoadState('networkidle')
const q = (t: number[], p: number) => t.toSorted((a, b) => a - b)[Math.ceil(p * t.length) - 1]!.toFixed(1)
const css = process.argv[2] ?? ''
if (css) await page.evaluate(`document.querySelector('[role=rowgroup] [role=presentation] > [role=presentation]').style.cssText += '${css}'; new MutationObserver(() => {}).observe(document, {subtree:true,childList:true})`)
for (const way of ['grid.scrollTop += 60', "grid.dispatchEvent(new WheelEvent('wheel', { deltaY: 60, bubbles: true, cancelable: true }))", '0']) {
  const frames = await page.evaluate<number[]>(`new Promise((resolve) => {
    const grid = document.querySelector('[role=grid]')
    const times = []
    let last = performance.now()
    const step = (now) => { times.push(now - last); last = now; ${way}; if (times.length < 200) requestAnimationFrame(step); else resolve(times.slice(5)) }
    requestAnimationFrame(step)
  })`)
  console.log(way.slice(0, 24), 'p50', q(frames, 0.5), 'p95', q(frames, 0.95), 'first row', await page.evaluate(`document.querySelector('[role=row][aria-rowindex]:nth-child(1)')?.ariaRowIndex`))
}
await browser[Symbol.asyncDispose](); await cell[Symbol.asyncDispose]()
