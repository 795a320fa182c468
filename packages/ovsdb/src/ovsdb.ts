import { connectTo, nameOf, type OvsdbAddress } from './address.ts'
import { insertedRows, readChanges, type TableChanges, type TableRows } from './changes.ts'
import { ConnectionLost, readRefusal } from './error.ts'
import { JsonRpc } from './json-rpc.ts'
import type { OperationResult, OvsdbCondition, OvsdbOperation } from './operation.ts'
import type { OvsdbRow } from './values.ts'

export interface OvsdbOptions {
  /** How long opening may take. Default: 10,000. */
  readonly timeoutMs?: number
  /** After this much silence an echo is sent; a server that has not answered it after as much again is dead. Default: 15,000; 0: never. */
  readonly probeMs?: number
  /** A larger message of the server ends the connection. Default: 256 MiB. */
  readonly maxMessageBytes?: number
}

const TIMEOUT_MS = 10_000
// A server does one thing at a time: a large transaction or a compaction silences it for seconds.
const PROBE_MS = 15_000
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024

interface ActiveMonitor {
  readonly onChange: (changes: TableChanges) => void
  /** Changes that arrived before the caller had the rows; undefined afterwards. */
  held: TableChanges[] | undefined
}

/** A connection to an OVSDB server. It does not reconnect: its owner opens another and reads the state again. */
export class Ovsdb implements AsyncDisposable {
  /** Resolves once the connection has ended; with the reason, unless `close` was called. Never rejects. */
  readonly closed: Promise<Error | undefined>
  readonly #rpc: JsonRpc
  readonly #monitors = new Map<string, ActiveMonitor>()
  #opened = 0

  private constructor(
    rpc: (notified: (method: string, params: readonly unknown[]) => void) => JsonRpc,
  ) {
    this.#rpc = rpc((method, params) => {
      if (method === 'update') this.#update(params)
    })
    this.closed = this.#rpc.closed
  }

  /** Connects and waits until the server answers; throws `ConnectionLost` if it does not. */
  static async open(address: OvsdbAddress, options: OvsdbOptions = {}): Promise<Ovsdb> {
    const { timeoutMs = TIMEOUT_MS, probeMs = PROBE_MS } = options
    const { maxMessageBytes = MAX_MESSAGE_BYTES } = options
    const socket = await connectTo(address, timeoutMs)
    const ovsdb = new Ovsdb(
      (notified) => new JsonRpc(socket, { probeMs, maxMessageBytes, notified }),
    )
    const late = new ConnectionLost(`${nameOf(address)} did not answer within ${timeoutMs} ms`)
    const timer = setTimeout(() => ovsdb.#rpc.fail(late), timeoutMs)
    try {
      // With TLS 1.3 a server refuses our certificate after the handshake: only an answer shows that it did not.
      await ovsdb.#rpc.call('echo', [])
    } catch (error) {
      await ovsdb.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
    return ovsdb
  }

  /** Executes all of the operations, or none: then throws `Refused`. */
  async transact(
    database: string,
    operations: readonly OvsdbOperation[],
  ): Promise<readonly OperationResult[]> {
    const results = await this.#rpc.call('transact', [database, ...operations])
    if (!Array.isArray(results)) throw this.#violation('results that are no list')
    for (const [at, result] of results.entries()) {
      // After a refused operation come nulls, and after the last one what its commit met.
      if (result !== null && typeof result === 'object' && 'error' in result) {
        throw readRefusal(result, at)
      }
    }
    return results as OperationResult[]
  }

  /** The columns of the rows that meet all conditions. */
  async select(
    database: string,
    table: string,
    columns: readonly string[],
    where: readonly OvsdbCondition[] = [],
  ): Promise<OvsdbRow[]> {
    const [result] = await this.transact(database, [{ op: 'select', table, where, columns }])
    if (!Array.isArray(result?.rows)) throw this.#violation('a select without rows')
    return [...result.rows]
  }

  /**
   * Returns the rows of the tables, and then calls `onChange` for each later transaction that changes them, in order, never before
   * the caller has the rows. An exception of `onChange` ends the connection.
   */
  async monitor(
    database: string,
    tables: Readonly<Record<string, readonly string[]>>,
    onChange: (changes: TableChanges) => void,
  ): Promise<TableRows> {
    this.#opened += 1
    const id = `monitor-${this.#opened}`
    const monitor: ActiveMonitor = { onChange, held: [] }
    const requests = Object.entries(tables).map(([table, columns]) => [table, { columns }])
    this.#monitors.set(id, monitor)
    try {
      const params = [database, id, Object.fromEntries(requests)]
      const rows = readRows(await this.#rpc.call('monitor', params))
      if (rows === undefined) throw this.#violation('a monitor without rows')
      // After all promises of the caller: it has the rows by then.
      setImmediate(() => this.#release(monitor))
      return rows
    } catch (error) {
      this.#monitors.delete(id)
      throw error
    }
  }

  /** Ends the connection; pending calls fail with `ConnectionLost`. */
  async close(): Promise<void> {
    await this.#rpc.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #update([id, updates]: readonly unknown[]): void {
    const monitor = this.#monitors.get(String(id))
    if (monitor === undefined) return
    const changes = readChanges(updates)
    if (monitor.held === undefined) monitor.onChange(changes)
    else monitor.held.push(changes)
  }

  #release(monitor: ActiveMonitor): void {
    const held = monitor.held ?? []
    monitor.held = undefined
    try {
      for (const changes of held) monitor.onChange(changes)
    } catch (cause) {
      this.#rpc.fail(new ConnectionLost('a change could not be processed', { cause }))
    }
  }

  #violation(what: string): ConnectionLost {
    const lost = new ConnectionLost(`the server violated the protocol: ${what}`)
    this.#rpc.fail(lost)
    return lost
  }
}

function readRows(initial: unknown): TableRows | undefined {
  try {
    return insertedRows(readChanges(initial))
  } catch {
    return undefined
  }
}
