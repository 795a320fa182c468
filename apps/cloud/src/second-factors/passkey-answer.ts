// What a browser answers when it has made a passkey, or has shown one (Web Authentication, level 3), as bytes. Nothing is believed here:
// decide-passkey.ts judges it.
import { Fault } from '@skerry/fault'

/** What the browser says of the request that it has passed on. */
export interface ClientData {
  readonly type: string
  readonly challenge: Buffer
  readonly origin: string
  /** Whether a page of another origin had ours in a frame. */
  readonly isFramed: boolean
}

/** What the authenticator says, and signs. */
export interface AuthenticatorData {
  /** SHA-256 of the host name that the passkey is for. */
  readonly site: Buffer
  /** Whether a person was there, and has shown who they are: by a PIN or a finger. */
  readonly isPresent: boolean
  readonly isVerified: boolean
  /** How often the authenticator has signed; 0 if it does not count. */
  readonly counter: number
  /** What the authenticator calls a new passkey. */
  readonly credential: Buffer | undefined
}

interface Answer {
  readonly credential: Buffer
  readonly client: ClientData
  readonly authenticator: AuthenticatorData
}

export interface MadePasskey extends Answer {
  /** DER. */
  readonly publicKey: Buffer
}

export interface ShownPasskey extends Answer {
  /** What was stored with the passkey as its user. */
  readonly user: Buffer
  readonly signed: Buffer
  readonly signature: Buffer
  readonly clientBytes: Buffer
}

/** The longest id that the specification allows, and more than any browser sends of the others. */
const MOST = {
  credential: 1023,
  client: 4096,
  authenticator: 8192,
  publicKey: 1024,
  signature: 1024,
  user: 64,
} as const

type Fields = Readonly<Record<string, unknown>>

export function readMade(answer: unknown): MadePasskey {
  const { common, response } = readCommon(answer)
  return { ...common, publicKey: bytesIn(response, 'publicKey', MOST.publicKey) }
}

export function readShown(answer: unknown): ShownPasskey {
  const { common, response, clientBytes, signed } = readCommon(answer)
  return {
    ...common,
    clientBytes,
    signed,
    signature: bytesIn(response, 'signature', MOST.signature),
    user: bytesIn(response, 'userHandle', MOST.user),
  }
}

function readCommon(answer: unknown) {
  const fields = fieldsOf(answer, 'the answer')
  const response = fieldsOf(fields['response'], 'response')
  const clientBytes = bytesIn(response, 'clientDataJSON', MOST.client)
  const signed = bytesIn(response, 'authenticatorData', MOST.authenticator)
  const common = {
    credential: bytesIn(fields, 'rawId', MOST.credential),
    client: readClientData(clientBytes),
    authenticator: readAuthenticatorData(signed),
  }
  return { common, response, clientBytes, signed }
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields
  throw unreadable(what)
}

const unreadable = (what: string): Fault =>
  new Fault('invalid', `this is not the answer of a browser about a passkey: ${what}`)

/** Base64url without padding, as browsers write it, and at least one byte. */
function bytesIn(fields: Fields, name: string, most: number): Buffer {
  const text = fields[name]
  if (typeof text === 'string' && text.length <= Math.ceil((most * 4) / 3)) {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length > 0 && bytes.toString('base64url') === text) return bytes
  }
  throw unreadable(name)
}

function readClientData(bytes: Buffer): ClientData {
  let parsed: unknown
  try {
    parsed = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw unreadable('clientDataJSON')
  }
  const { type, challenge, origin, crossOrigin } = fieldsOf(parsed, 'clientDataJSON')
  if (typeof type !== 'string' || typeof challenge !== 'string' || typeof origin !== 'string') {
    throw unreadable('clientDataJSON')
  }
  const isFramed = crossOrigin !== undefined && crossOrigin !== false
  return { type, origin, challenge: Buffer.from(challenge, 'base64url'), isFramed }
}

/** Where its parts begin. The key of a new passkey comes last, and browsers send it as DER beside it: none of its CBOR is read. */
const AT = { flags: 32, counter: 33, end: 37, idLength: 53, id: 55 } as const
const FLAG = { present: 0x01, verified: 0x04, made: 0x40 } as const

function readAuthenticatorData(bytes: Buffer): AuthenticatorData {
  const flags = bytes[AT.flags]
  if (flags === undefined || bytes.length < AT.end) throw unreadable('authenticatorData')
  return {
    site: bytes.subarray(0, AT.flags),
    isPresent: (flags & FLAG.present) !== 0,
    isVerified: (flags & FLAG.verified) !== 0,
    counter: bytes.readUInt32BE(AT.counter),
    credential: (flags & FLAG.made) === 0 ? undefined : idIn(bytes),
  }
}

function idIn(bytes: Buffer): Buffer {
  if (bytes.length < AT.id) throw unreadable('authenticatorData')
  const end = AT.id + bytes.readUInt16BE(AT.idLength)
  // The key follows.
  if (bytes.length <= end) throw unreadable('authenticatorData')
  return bytes.subarray(AT.id, end)
}
