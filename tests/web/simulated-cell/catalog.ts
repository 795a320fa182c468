// Templates, uploads and API tokens of the simulated cell.
import type { SimulatedCaller } from './callers.ts'
import { KIND, uuidOf } from './inventory.ts'
import { mayAt, shareLinks } from './shares.ts'
import { media } from './vm-documents.ts'

interface Template {
  /** The number of its catalog. */
  readonly catalog: number
  readonly name: string
  readonly cpus: number
  readonly memory: number
  readonly disk: number
}
const templates: Template[] = [
  { catalog: 0, name: 'debian-12', cpus: 1, memory: 1024, disk: 10_240 },
  { catalog: 1, name: 'debian-13', cpus: 1, memory: 1024, disk: 10_240 },
  { catalog: 0, name: 'postgres-17', cpus: 4, memory: 8192, disk: 61_440 },
  { catalog: 0, name: 'ubuntu-26.04', cpus: 2, memory: 2048, disk: 20_480 },
]
const templateHref = (n: number): string =>
  `/api/vAppTemplate/vappTemplate-${uuidOf(KIND.template, n)}`

/** Those of the catalogs that the caller sees. */
export const templateRecords = (caller: SimulatedCaller) =>
  templates.flatMap(({ catalog }, n) =>
    mayAt(caller, 'org:read', 'catalog', catalog) ? [templateRecord(n)] : [],
  )

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

const catalogs = ['main', 'golden'] as const
export const catalogHref = (n: number): string => `/api/catalog/${uuidOf(KIND.catalog, n)}`
/** Those that the caller sees by the role or by a share. */
export const catalogRecords = (caller: SimulatedCaller) =>
  catalogs.flatMap((name, n) =>
    mayAt(caller, 'org:read', 'catalog', n) ? [{ name, href: catalogHref(n) }] : [],
  )

export function catalogDocument(n: number, caller: SimulatedCaller) {
  const name = catalogs[n]
  if (name === undefined) return undefined
  const href = catalogHref(n)
  const { link, unavailable } = shareLinks(caller, 'catalog', n, href)
  const upload = { rel: 'add', type: media('uploadParams'), href: `${href}/action/upload` }
  return {
    name,
    href,
    link: [...(mayAt(caller, 'vm:edit', 'catalog', n) ? [upload] : []), ...link],
    unavailable,
    catalogItems: {
      catalogItem: templates.flatMap((template, at) =>
        template.catalog === n
          ? [{ name: template.name, href: `/api/catalogItem/${uuidOf(KIND.template, at)}` }]
          : [],
      ),
    },
    dateCreated: '2026-11-01T06:00:00.000Z',
  }
}

interface SimulatedUpload {
  readonly catalog: number
  readonly name: string
  readonly size: number
  readonly cpus: number
  readonly memory: number
  sent: number
}
const uploads = new Map<number, SimulatedUpload>()

export function addUpload(catalog: number, body: Record<string, unknown>): number {
  const n = uploads.size
  uploads.set(n, {
    catalog,
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
    catalog: upload.catalog,
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
