import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** One file of the page, ready to be sent. */
export interface ScreenFile {
  readonly type: string
  readonly etag: string
  readonly bodies: Readonly<Record<Encoding, Buffer>>
}

/** Brotli would save a tenth on the wire, and permanently cost a console 50 MiB of memory. */
export type Encoding = 'identity' | 'gzip'

/** All files of the page: loaded, stripped of types and compressed once, when a server starts. */
export interface ScreenFiles {
  /** The page itself. */
  readonly page: ScreenFile
  /** By name: `page.js`, `novnc/core/rfb.js`. No other file can be requested. */
  readonly files: ReadonlyMap<string, ScreenFile>
  /** A hash of all files; it is part of their URLs, so that they can be cached forever. */
  readonly version: string
}

/** `-` is not a valid VM id, so the path cannot collide with the page of a VM. */
export const FILES_PATH = '/console/-/'

const PAGE = join(import.meta.dirname, 'page')
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  html: 'text/html; charset=utf-8',
}
const VERSION_LENGTH = 16

export async function loadScreenFiles(): Promise<ScreenFiles> {
  const texts = new Map([...(await readPage()), ...(await readNoVnc())])
  const html = texts.get('page.html') ?? ''
  texts.delete('page.html')
  const sum = createHash('sha256')
  for (const [name, text] of texts) sum.update(`${name}\0${text}\0`)
  const version = sum.digest('hex').slice(0, VERSION_LENGTH)
  const files = new Map<string, ScreenFile>()
  for (const [name, text] of texts) files.set(name, pack(name, text))
  const page = pack('page.html', withAddresses(html, [...texts.keys()], version))
  return { page, files, version }
}

/** Our own files; TypeScript is converted to JavaScript. */
async function readPage(): Promise<[string, string][]> {
  const names = (await readdir(PAGE)).filter((name) => !/\.d\.ts$|\.json$/.test(name)).sort()
  return Promise.all(
    names.map(async (name): Promise<[string, string]> => {
      const text = await readFile(join(PAGE, name), 'utf8')
      return name.endsWith('.ts') ? [name.replace(/ts$/, 'js'), toJavaScript(text)] : [name, text]
    }),
  )
}

/** A browser finds modules by URL: our own are siblings, noVNC is below. */
function toJavaScript(text: string): string {
  return withoutWarnings(() => stripTypeScriptTypes(text))
    .replaceAll(/(from '\.\/[^']+)\.ts'/g, "$1.js'")
    .replaceAll(/from '@novnc\/novnc'/g, "from './novnc/core/rfb.js'")
}

/** Suppresses Node's warning that the strip function is experimental; Node runs our files with the same stripping. */
function withoutWarnings<T>(run: () => T): T {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => undefined
  try {
    return run()
  } finally {
    process.emitWarning = emitWarning
  }
}

/** noVNC's own files, unmodified: its entry point and all files reachable from it by import. */
async function readNoVnc(): Promise<[string, string][]> {
  const entrance = fileURLToPath(import.meta.resolve('@novnc/novnc'))
  const root = dirname(dirname(entrance))
  const texts = new Map<string, string>()
  const visit = async (file: string): Promise<void> => {
    if (texts.has(file)) return
    texts.set(file, '')
    const text = await readFile(file, 'utf8')
    texts.set(file, text)
    for (const [, target = ''] of text.matchAll(
      /^(?:import|export)[^'"]*from\s*['"](\.[^'"]+)['"]/gm,
    ))
      await visit(join(dirname(file), target))
  }
  await visit(entrance)
  return [...texts].map(([file, text]) => [`novnc/${relative(root, file)}`, text])
}

/** Inserts the URLs, and preloads all modules at once instead of level by level. */
function withAddresses(html: string, names: readonly string[], version: string): string {
  const at = `${FILES_PATH}${version}/`
  const preloads = names
    .filter((name) => name.endsWith('.js') && name !== 'take-address.js' && name !== 'page.js')
    .map((name) => `    <link rel="modulepreload" href="${at}${name}" />\n`)
  return html
    .replaceAll(
      / (src|href)="([a-z-]+\.(?:js|css|svg))"/g,
      (_, key, name) => ` ${key}="${at}${name}"`,
    )
    .replace('  </head>', `${preloads.join('')}  </head>`)
}

function pack(name: string, text: string): ScreenFile {
  const identity = Buffer.from(text)
  const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`
  const type = types[name.slice(name.lastIndexOf('.') + 1)]
  if (type === undefined) throw new Error(`a file of the page has no type: ${name}`)
  return { type, etag, bodies: { identity, gzip: gzipSync(identity) } }
}
