import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import {
  answerFile,
  answerPage,
  endings,
  loadScreenFiles,
  refuseUpgrade,
  relay,
  screenServer,
  whyNotHandshake,
  type Ending,
  type FileAnswer,
  type FileRequest,
  type ScreenFiles,
  type ScreenServer,
} from '@skerry/screen'
import { powerStates, type PowerState } from '@skerry/vm'

import { connectDisplay } from '../guests/connect-display.ts'
import type { Upgrade } from './access/gate.ts'
import { Tickets } from './access/tickets.ts'
import { faultAnswer } from './send-fault.ts'
import { powerWord } from './words.ts'

/** Each viewer costs QEMU a copy of all screen updates. */
export const CONSOLES_OF_A_VM = 4
/** How long QEMU may take to accept a connection to its display. */
const CONNECT_MS = 5000
type WebSocket = Awaited<ReturnType<ScreenServer['accept']>>
const SCREEN = /^\/console\/([^/?]+)\/screen(?:\?(.*))?$/

export interface ConsolesOptions {
  readonly host: engine.Host
  /** A random secret of 256 bits, as text. */
  readonly secret: () => string
  /** Whether requests must carry a token: a page, which has none, then needs a ticket. */
  readonly locked: boolean
}

/** The address of a screen. */
export interface ScreenAddress {
  readonly page: string
  readonly power: PowerState
  /** Until when the page must be opened, if it has a ticket. */
  readonly expires?: Date
}

/** The screens of this machine's local VMs that are shown in browsers through this API. */
export class Consoles implements Disposable {
  readonly #options: ConsolesOptions
  readonly #tickets: Tickets
  readonly #server = screenServer()
  readonly #open = new Map<string, number>()
  readonly #ended = new AbortController()
  /** Loaded on first use: most machines never show a screen. */
  #files: Promise<ScreenFiles> | undefined

  constructor(options: ConsolesOptions) {
    this.#options = options
    this.#tickets = new Tickets(options.secret)
  }

  /** Whether a request is a WebSocket upgrade for a screen. */
  static wants(request: IncomingMessage): boolean {
    return request.headers.upgrade?.toLowerCase() === 'websocket' && SCREEN.test(request.url ?? '')
  }

  async offer(id: string): Promise<ScreenAddress> {
    const { host, locked } = this.#options
    const power = await engine.readPower(host, id)
    // The page is requested next.
    this.#load().catch(() => undefined)
    const page = `/console/${encodeURIComponent(id)}`
    if (!locked) return { page, power }
    const { text, goodForMs } = this.#tickets.issue(id)
    const expires = new Date(host.clock.now().getTime() + goodForMs)
    return { page: `${page}?ticket=${text}`, power, expires }
  }

  /** The page for any screen: it contains no data of a VM. */
  async page(request: FileRequest): Promise<FileAnswer> {
    return answerPage(await this.#load(), request)
  }

  /** A file of the page; undefined if there is no such file. */
  async file(request: FileRequest): Promise<FileAnswer | undefined> {
    return answerFile(await this.#load(), request)
  }

  /** Shows a screen to a client that passed the origin check, until either side ends. Never rejects. */
  async show({ request, socket, head, carriesToken }: Upgrade): Promise<void> {
    const [, id = '', query = ''] = SCREEN.exec(request.url ?? '') ?? []
    try {
      const why = whyNotHandshake(request)
      if (why !== undefined) throw new Fault('invalid', why)
      const ticket = new URLSearchParams(query).get('ticket') ?? ''
      if (!carriesToken && !this.#tickets.redeem(id, ticket)) {
        throw new Fault('forbidden', 'the ticket is missing, used or expired', {
          hint: `get a new one: skerry console ${id}`,
        })
      }
      await engine.readPower(this.#options.host, id)
      await this.#withinLimit(id, () => this.#server.accept(request, socket, head))
    } catch (error) {
      this.#options.host.log(`failed to open the screen of ${id}`, error)
      const { status, body } = faultAnswer(error, 'for a screen')
      if (socket.writable) refuseUpgrade(socket, status, body)
    }
  }

  /** Viewers get a close reason; a page that is reloaded connects to the next vmd. */
  [Symbol.dispose](): void {
    this.#ended.abort({ code: endings.stopping.code, reason: 'vmd stops; the guest keeps running' })
    this.#server.close()
  }

  #load(): Promise<ScreenFiles> {
    this.#files ??= loadScreenFiles().catch((error: unknown) => {
      this.#files = undefined
      throw error
    })
    return this.#files
  }

  async #withinLimit(id: string, accept: () => Promise<WebSocket>): Promise<void> {
    const open = this.#open.get(id) ?? 0
    if (open >= CONSOLES_OF_A_VM) return closeWith(await accept(), tooMany)
    this.#open.set(id, open + 1)
    try {
      const screen = await this.#connect(id)
      // A page cannot read why an upgrade was rejected, so accept it and send the reason in the close frame.
      if ('code' in screen) return closeWith(await accept(), screen)
      const { display, boot } = screen
      const webSocket = await accept().catch((error: unknown) => {
        display.destroy()
        throw error
      })
      const screenEnded = () => this.#judgeEnd(id, boot)
      await relay(webSocket, display, { signal: this.#ended.signal, screenEnded })
    } finally {
      const left = (this.#open.get(id) ?? 1) - 1
      if (left === 0) this.#open.delete(id)
      else this.#open.set(id, left)
    }
  }

  /** The display and its boot, or why there is none now. */
  async #connect(id: string): Promise<{ display: Duplex; boot: string } | Ending> {
    const { host } = this.#options
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(CONNECT_MS)])
    await using stack = new AsyncDisposableStack()
    try {
      const display = stack.use(await connectDisplay(host, id, 'local', signal))
      const { boot } = await engine.readVm(host, id)
      if (boot === null) return offEnding(id, 'it is powered off')
      stack.move()
      return { display, boot }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const power = powerStates.find((each) => each === error.state)
      return power === undefined
        ? { ...endings.hostLost, reason: 'it has no display now; try again' }
        : offEnding(id, `it is ${powerWord[power]}`)
    }
  }

  async #judgeEnd(id: string, boot: string): Promise<Ending> {
    const { host } = this.#options
    try {
      const power = await engine.readAfterBoot(host, id, boot)
      if (power === undefined) return { ...endings.hostLost, reason: 'QEMU closed the display' }
      if (power === 'gone') return { ...endings.poweredOff, reason: 'it was deleted' }
      if (power === 'on')
        return { ...endings.poweredOff, reason: 'it was powered off and on again' }
      return offEnding(id, `it is ${powerWord[power]}`)
    } catch (error) {
      host.log(`failed to find out why the screen of ${id} ended`, error)
      return endings.hostLost
    }
  }
}

const tooMany: Ending = {
  ...endings.tooMany,
  reason: `this screen is open in ${CONSOLES_OF_A_VM} windows; close one of them`,
}

const offEnding = (id: string, what: string): Ending => ({
  code: endings.poweredOff.code,
  reason: `${what}; turn it on: skerry start ${id}`,
})

function closeWith(webSocket: WebSocket, { code, reason }: Ending): void {
  // A WebSocket that is not relayed is paused; resume it so that its close frame is read.
  webSocket.resume()
  webSocket.close(code, reason)
}
