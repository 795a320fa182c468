import { readAddress, type TakenAddress } from './address.ts'
import { byId, disclose, toggle } from './elements.ts'
import { explain, type End } from './explain.ts'
import { findOut, readPower } from './find-out.ts'
import { chords, ctrlAltDel } from './keys.ts'
import { fillScreen, isLeaving, ScreenView, type View } from './screen.ts'

const here = globalThis as unknown as { takenAddress: TakenAddress }
const address = readAddress(here.takenAddress)
Reflect.deleteProperty(here, 'takenAddress')

const main = byId('screen', HTMLElement)
const display = byId('display', HTMLElement)
const tools = byId('tools', HTMLElement)
const state = byId('state', HTMLElement)
const notice = byId('notice', HTMLElement)
const again = byId('again', HTMLButtonElement)
const copied = byId('copied', HTMLTextAreaElement)
const toSend = byId('to-send', HTMLTextAreaElement)
const full = byId('full', HTMLButtonElement)

const AGAIN_MS = [1000, 2000, 3000, 5000, 10_000]
const NAME_LENGTH = 100

const view: View = { fits: true, viewOnly: false }
let screen: ScreenView | undefined
let tries = 0
let waiting: ReturnType<typeof setTimeout> | undefined

/** Shows the state of the connection; a screen reader announces changes. */
function showState(words: string, tone: string): void {
  if (state.textContent !== words) state.textContent = words
  document.body.dataset['tone'] = tone
}

function connect(): void {
  if (address.mode === 'none') return finish({ how: address.why })
  clearTimeout(waiting)
  waiting = undefined
  again.disabled = true
  if (tries === 0) {
    showState('Connecting…', 'waiting')
    showNotice('Connecting…', [], false)
  }
  screen = new ScreenView(display, address.socket, view, {
    shown: onShown,
    // QEMU's default name is of no use to a person.
    named: (name) => name.startsWith('QEMU') || setName(name),
    copied: (text) => {
      copied.value = text
      byId('copy', HTMLButtonElement).disabled = text === ''
    },
    ended: ({ opened, understood, code }) => void ended(opened, understood, code),
  })
}

function onShown(): void {
  tries = 0
  notice.hidden = true
  showState('Connected', 'connected')
  setTools(true)
  if (address.mode === 'none') return
  screen?.describe(`Screen of ${address.name}`, 'leave')
  if (!tools.contains(document.activeElement)) screen?.focus()
}

async function ended(opened: boolean, understood: boolean, code: number): Promise<void> {
  screen = undefined
  setTools(false)
  if (address.mode === 'none') return
  if (!understood) finish({ how: 'not understood' })
  else if (opened) finish({ how: 'closed', code })
  else finish(await findOut(address.mode, address.name))
}

function finish(end: End): void {
  const words = explain(address.mode === 'laptop' ? 'laptop' : 'cloud', end)
  showState(words.state, words.tone)
  showNotice(words.headline, words.advice, address.mode === 'laptop')
  again.disabled = false
  // The canvas had the focus and is gone; move the focus, so that it is not lost.
  if (document.activeElement === document.body) byId('headline', HTMLElement).focus()
  if (words.comesBack && address.mode === 'laptop') comeBack(address.name)
}

/** On a laptop: reconnects as soon as the VM is on again and vmd answers. */
function comeBack(name: string): void {
  const own = setTimeout(
    async () => {
      const power = await readPower(name).catch(() => 'unknown')
      // The user has connected again meanwhile.
      if (waiting !== own) return
      if (power === 'off') comeBack(name)
      else if (power === 'locked')
        advise([`Each connection requires a new ticket: skerry console ${name}`])
      else connect()
    },
    AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)],
  )
  waiting = own
}

function showNotice(headline: string, advice: readonly string[], mayTryAgain: boolean): void {
  byId('headline', HTMLElement).textContent = headline
  advise(advice)
  again.hidden = !mayTryAgain
  notice.hidden = false
}

function advise(advice: readonly string[]): void {
  const lines = advice.map((line) => {
    const element = document.createElement('p')
    element.textContent = line
    return element
  })
  byId('advice', HTMLElement).replaceChildren(...lines)
}

/** From the guest, or from the URL: shown as text, shortened. */
function setName(name: string): void {
  const [, inner = name] = /^QEMU \((.+)\)$/s.exec(name) ?? []
  const short = inner.slice(0, NAME_LENGTH)
  byId('name', HTMLElement).textContent = short
  document.title = `${short} – console`
}

function setTools(isOpen: boolean): void {
  for (const button of tools.querySelectorAll('button')) button.disabled = !isOpen
  for (const button of document.querySelectorAll<HTMLButtonElement>('.panel button')) {
    button.disabled = !isOpen || (button.id === 'copy' && copied.value === '')
  }
}

function wireKeys(): void {
  const list = byId('chords', HTMLElement)
  for (const chord of chords) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = chord.name
    button.disabled = true
    button.addEventListener('click', () => screen?.press(chord))
    list.append(button)
  }
  byId('ctrl-alt-del', HTMLButtonElement).addEventListener('click', () => screen?.press(ctrlAltDel))
  window.addEventListener(
    'keydown',
    (event) => {
      if (!isLeaving(event)) return
      event.preventDefault()
      event.stopImmediatePropagation()
      if (document.fullscreenElement) void document.exitFullscreen()
      byId('keys', HTMLButtonElement).focus()
    },
    { capture: true },
  )
}

function wireClipboard(): void {
  byId('send', HTMLButtonElement).addEventListener('click', () => screen?.paste(toSend.value))
  byId('type', HTMLButtonElement).addEventListener('click', () => {
    void screen?.type(toSend.value)
    screen?.focus()
  })
  byId('copy', HTMLButtonElement).addEventListener('click', async () => {
    copied.select()
    await navigator.clipboard?.writeText(copied.value).catch(() => undefined)
  })
}

function wireView(): void {
  toggle(byId('fit', HTMLButtonElement), view.fits, (fits) => {
    view.fits = fits
    screen?.show(view)
  })
  toggle(byId('view-only', HTMLButtonElement), view.viewOnly, (viewOnly) => {
    view.viewOnly = viewOnly
    document.body.classList.toggle('view-only', viewOnly)
    screen?.show(view)
  })
  full.hidden = !document.fullscreenEnabled
  full.addEventListener('click', async () => {
    const filled = fillScreen(main)
    screen?.focus()
    await filled
  })
}

wireKeys()
wireClipboard()
wireView()
disclose(byId('keys', HTMLButtonElement), byId('keys-panel', HTMLElement))
disclose(byId('clipboard', HTMLButtonElement), byId('clipboard-panel', HTMLElement))
byId('skip', HTMLAnchorElement).addEventListener('click', (event) => {
  event.preventDefault()
  if (screen?.canvas) screen.focus()
  else byId('headline', HTMLElement).focus()
})
again.addEventListener('click', () => {
  tries = 0
  connect()
})
setTools(false)
if (address.mode !== 'none') setName(address.name)
connect()
