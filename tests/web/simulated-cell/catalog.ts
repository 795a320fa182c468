// Templates, uploads and API tokens of the simulated cell.
import { KIND, uuidOf } from './inventory.ts'
import { media } from './vm-documents.ts'

interface Template {
  readonly name: string
  readonly cpus: number
  readonly memory: number
  readonly disk: number
}
const templates: Template[] = [
  { name: 'debian-12', cpus: 1, memory: 1024, disk: 10_240 },
  { name: 'debian-13', cpus: 1, memory: 1024, disk: 10_240 },
  { name: 'postgres-17', cpus: 4, memory: 8192, disk: 61_440 },
  { name: 'ubuntu-26.04', cpus: 2, memory: 2048, disk: 20_480 },
]
const templateHref = (n: number): string =>
  `/api/vAppTemplate/vappTemplate-${uuidOf(KIND.template, n)}`

export const templateRecords = () => templates.map((_, n) => templateRecord(n))

const templateRecord = (n: number) => ({
  name: templates[n]?.name,
  numberOfCpus: templates[n]?.cpus,
  memoryMB: templates[n]?.memory,
  diskMB: templates[n]?.disk,
  href: templateHref(n),
})

export const templateDocument = (n: number) =>
  templates[n] && {
    ...templateRecord(n),
    type: media('vAppTemplate'),
    digest: { algorithm: 'sha256', value: 'a'.repeat(64) },
  }

export const catalogHref = `/api/catalog/${uuidOf(KIND.catalog, 0)}`
export const catalogRecords = () => [{ name: 'main', href: catalogHref }]
export const catalogDocument = () => ({
  name: 'main',
  href: catalogHref,
  link: [{ rel: 'add', type: media('uploadParams'), href: `${catalogHref}/action/upload` }],
})

interface SimulatedUpload {
  readonly name: string
  readonly size: number
  readonly cpus: number
  readonly memory: number
  sent: number
}
const uploads = new Map<number, SimulatedUpload>()

export function addUpload(body: Record<string, unknown>): number {
  const n = uploads.size
  uploads.set(n, {
    name: String(body['name']),
    size: Number(body['size']),
    cpus: Number(body['numberOfCpus'] ?? 1),
    memory: Number(body['memoryMB'] ?? 512),
    sent: 0,
  })
  return n
}

export function uploadDocument(n: number) {
  const upload = uploads.get(n)
  return (
    upload && {
      name: upload.name,
      href: `/api/transfer/${uuidOf(KIND.upload, n)}`,
      file: { size: upload.size, bytesTransferred: upload.sent },
    }
  )
}

/** After the last byte the upload becomes a template. */
export function receive(n: number, range: string | undefined, bytes: number): void {
  const upload = uploads.get(n)
  if (!upload) return
  const start = Number(/^bytes (\d+)-/.exec(range ?? '')?.[1] ?? 0)
  upload.sent = start + bytes
  if (upload.sent < upload.size) return
  templates.push({
    name: upload.name,
    cpus: upload.cpus,
    memory: upload.memory,
    disk: Math.max(64, Math.round(upload.size / 1024 ** 2)),
  })
}

export const deleteUpload = (n: number): boolean => uploads.delete(n)

interface Token {
  readonly name: string
  readonly created: number
}
const tokens = new Map<number, Token>([
  [0, { name: 'nightly-backup', created: Date.now() - 40 * 86_400_000 }],
])

export function tokenDocument(n: number) {
  const token = tokens.get(n)
  return (
    token && {
      name: token.name,
      href: `/api/session/tokens/${uuidOf(KIND.token, n)}`,
      dateCreated: new Date(token.created).toISOString(),
    }
  )
}
export const tokensDocument = () => ({ accessToken: [...tokens.keys()].map(tokenDocument) })
export function addToken(name: string) {
  const n = Math.max(-1, ...tokens.keys()) + 1
  tokens.set(n, { name, created: Date.now() })
  return { ...tokenDocument(n), token: `skat_${'x'.repeat(40)}` }
}
export const deleteToken = (n: number): boolean => tokens.delete(n)
