import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'

import type { EventCursor } from '../database/events.ts'

/** Event ids as one organisation sees them. An event has the same id at any time and from any cell. */
export interface EventCursors {
  /** The id in a feed. */
  write(cursor: EventCursor): string
  /** Throws if it is not a cursor of this organisation. */
  read(text: string): EventCursor
  /** The id in a query: a UUID. */
  idOf(cursor: EventCursor): string
  /** Accepts any UUID; one that belongs to no event finds none. */
  ofId(uuid: string): EventCursor
}

export type CursorsOf = (org: OrgId) => EventCursors

/** Before the first event. */
const START: EventCursor = { tx: '0', seq: '0' }
const START_WORD = '0-0'
const BLOCK_BYTES = 16
const TAG_BYTES = 8
/** Organisations whose keys are cached. */
const KEPT = 1000

/**
 * Transactions and sequence numbers are counted over all organisations, so they would reveal how much others do. An organisation sees
 * them encrypted: one block of AES-256 under its own key, derived from the key that all cells share; in a cursor a tag follows.
 */
export function makeCursors(key: () => string | undefined): CursorsOf {
  const kept = new Map<string, EventCursors>()
  return (org) => {
    const secret = key()
    if (secret === undefined) {
      throw new Fault('unavailable', 'this cell has no key for event ids', {
        hint: 'skerry admin init creates it; all cells need the same key',
      })
    }
    const name = `${org} ${secret}`
    const found = kept.get(name) ?? cursorsUnder(secret, org)
    if (kept.size >= KEPT && !kept.has(name)) kept.clear()
    kept.set(name, found)
    return found
  }
}

function cursorsUnder(secret: string, org: OrgId): EventCursors {
  const keys = Buffer.from(
    hkdfSync('sha256', Buffer.from(secret, 'base64'), '', `skerry events of ${org}`, 64),
  )
  const [forBlock, forTag] = [keys.subarray(0, 32), keys.subarray(32)]
  const encrypt = ({ tx, seq }: EventCursor): Buffer => {
    const plain = Buffer.alloc(BLOCK_BYTES)
    plain.writeBigUInt64BE(BigInt(tx), 0)
    plain.writeBigUInt64BE(BigInt(seq), 8)
    // ECB is safe here: a single block is encrypted, and never the same one for two events.
    return createCipheriv('aes-256-ecb', forBlock, null).setAutoPadding(false).update(plain)
  }
  const decrypt = (block: Buffer): EventCursor => {
    const plain = createDecipheriv('aes-256-ecb', forBlock, null)
      .setAutoPadding(false)
      .update(block)
    const seq = plain.readBigInt64BE(8)
    // PostgreSQL counts sequence numbers in 63 bits.
    return { tx: String(plain.readBigUInt64BE(0)), seq: String(seq < 0n ? 0n : seq) }
  }
  const tagOf = (block: Buffer): Buffer =>
    createHmac('sha256', forTag).update(block).digest().subarray(0, TAG_BYTES)
  return {
    write(cursor) {
      if (cursor.tx === START.tx && cursor.seq === START.seq) return START_WORD
      const block = encrypt(cursor)
      // Not base64url: with a dash at its beginning, programs would take it for an option.
      return Buffer.concat([block, tagOf(block)]).toString('hex')
    },
    read(text) {
      if (text === START_WORD) return START
      const bytes = Buffer.from(text, 'hex')
      const block = bytes.subarray(0, BLOCK_BYTES)
      const tag = bytes.subarray(BLOCK_BYTES)
      const isOurs =
        tag.length === TAG_BYTES &&
        bytes.toString('hex') === text &&
        timingSafeEqual(tag, tagOf(block))
      if (isOurs) return decrypt(block)
      throw new Fault(
        'invalid',
        'the cursor must be the id of an event of this organisation, or 0-0',
        {
          hint: 'omit the cursor, or start at 0-0',
        },
      )
    },
    idOf: (cursor) =>
      encrypt(cursor)
        .toString('hex')
        .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5'),
    ofId: (uuid) => decrypt(Buffer.from(uuid.replaceAll('-', ''), 'hex')),
  }
}
