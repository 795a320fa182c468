import { X509Certificate } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { whoIsPeer } from '@skerry/host-api'
import { Conditions, type Clock, type Condition } from '@skerry/service'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'

/** A smaller difference between the clocks of the cell and the database is not logged. */
const WARN_MS = 30_000
/** From this difference on, certificates that the cell issues or checks may be wrong. */
const STOP_MS = 5 * 60_000
const CHECK_MS = 60_000
/** The interval while the cell is unfit. */
const CHECK_SOON_MS = 10_000
/** A host that this cell contacts is tried at least once a minute: older distrust is of a host that other cells contact now. */
const DISTRUST_MS = 3 * 60_000

/** While one of these conditions fails, the cell leaves its work to others. */
const UNFIT: ReadonlySet<string> = new Set(['clock', 'certificate', 'hosts'])

type FitnessVerdict = Pick<Condition, 'ok' | 'message'>

/** `differenceMs`: how far the cell's clock is ahead of the database's. */
export function judgeClock(differenceMs: number): FitnessVerdict & { readonly warn: boolean } {
  const seconds = Math.abs(Math.round(differenceMs / 1000))
  const side = differenceMs < 0 ? 'behind' : 'ahead of'
  const message = `the clock of this cell is ${seconds} s ${side} the database's`
  const [ok, warn] = [Math.abs(differenceMs) < STOP_MS, Math.abs(differenceMs) >= WARN_MS]
  return { ok, warn, message: warn ? `${message}: synchronise both clocks with NTP` : message }
}

/** Whether other machines accept the cell's certificate, by the database's clock. */
export function judgeCertificate(cert: string, now: Date, epoch: number): FitnessVerdict {
  const certificate = new X509Certificate(cert)
  const { validFromDate: from, validToDate: to } = certificate
  const span = `the certificate of this cell is valid from ${from.toISOString()} to ${to.toISOString()}`
  if (now < from || now >= to) {
    const message = `${span}, but the time is ${now.toISOString()}: the renewal failed, or the issuer's clock was wrong`
    return { ok: false, message }
  }
  if (whoIsPeer(certificate).epoch < epoch) {
    return {
      ok: false,
      message: 'the certificate of this cell was revoked: a new one must be issued',
    }
  }
  return { ok: true, message: span }
}

export interface FitnessContext {
  readonly cell: string
  readonly db: Kysely<CloudTables>
  readonly clock: Clock
  /** Milliseconds of a clock that never jumps. Default: those since the process started. */
  readonly now?: () => number
  /** The current certificate of this cell, PEM. */
  readonly cert: () => string
  readonly log: (message: string, cause?: unknown) => void
}

/** The self-checks of a cell: its clock, its certificate, its connection to the hosts, and mutual trust with them. */
export class Fitness {
  readonly conditions: Conditions
  readonly #context: FitnessContext
  readonly #distrusted = new Map<HostId, { readonly why: string; readonly at: number }>()
  #warned = false

  constructor(context: FitnessContext) {
    this.#context = context
    this.conditions = new Conditions((condition) => this.#report(condition))
  }

  /** Ignores distrust between this cell and a host: the host may be wrong, so an administrator decides. */
  get isFit(): boolean {
    return !this.conditions.failing().some(({ name }) => UNFIT.has(name))
  }

  /** The clock for signing: throws while the clock is known to be wrong. */
  get signingClock(): Clock {
    return {
      now: () => {
        const wrong = this.conditions.failing().find(({ name }) => name === 'clock')
        if (!wrong) return this.#context.clock.now()
        throw new Fault('unavailable', `signing is suspended: ${wrong.message}`, {
          hint: 'correct the clock, or use another cell',
        })
      },
    }
  }

  /** Compares clock and certificate with the database, and forgets old distrust. */
  async check(): Promise<void> {
    for (const [host, { at }] of this.#distrusted) {
      if (this.#now() - at > DISTRUST_MS) this.trusts(host)
    }
    const { db, clock, cert, log } = this.#context
    const [requested, began] = [clock.now().getTime(), performance.now()]
    const { rows } = await sql<{ now: Date; epoch: number }>`
      select clock_timestamp() as now, epoch from cloud`.execute(db)
    const [answer] = rows
    if (!answer) return
    const halfway = requested + (performance.now() - began) / 2
    const { ok, warn, message } = judgeClock(halfway - answer.now.getTime())
    this.#set('clock', { ok, message })
    if (warn && !this.#warned) log(message)
    this.#warned = warn
    this.#set('certificate', judgeCertificate(cert(), answer.now, answer.epoch))
  }

  /** Checks now and then every minute, until the signal is aborted. */
  async watch(pause: (ms: number) => Promise<unknown>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.check().catch((error: unknown) =>
        this.#context.log('comparing the clock with the database failed', error),
      )
      await pause(this.isFit ? CHECK_MS : CHECK_SOON_MS)
    }
  }

  /** Records whether this cell reaches any host, while other cells reach theirs. */
  reaches(ok: boolean): void {
    const message = ok
      ? 'hosts respond, or no other cell reaches any'
      : 'no host responds to this cell, but other cells reach theirs: check its network and its certificate'
    this.#set('hosts', { ok, message })
  }

  /** `why`: the reason for which a host and this cell reject each other; undefined once the host responded. */
  trusts(host: HostId, why?: string): void {
    if (why === undefined) {
      if (!this.#distrusted.delete(host)) return
    } else this.#distrusted.set(host, { why, at: this.#now() })
    const [first] = this.#distrusted.values()
    this.#set('trust', {
      ok: first === undefined,
      message: first?.why ?? 'this cell and its hosts accept each other',
    })
  }

  #now(): number {
    return this.#context.now?.() ?? performance.now()
  }

  #set(name: string, { ok, message }: FitnessVerdict): void {
    this.conditions.set(name, ok, message, this.#context.clock.now())
  }

  #report({ name, ok, message }: Condition): void {
    const { cell, db, log } = this.#context
    log(`${name} is ${ok ? 'ok again' : 'not ok'}: ${message}`)
    // Other conditions, such as the connection to the database, appear only in this cell's health endpoints.
    if (!UNFIT.has(name) && name !== 'trust') return
    const what = { cell, condition: name, message }
    emitEvent(db, { kind: ok ? 'cell.fit' : 'cell.unfit', details: what }).catch((error: unknown) =>
      log('writing an event failed', error),
    )
  }
}
