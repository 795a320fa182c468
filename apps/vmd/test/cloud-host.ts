import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { connectHost, type HostApi } from '@skerry/host-api'
import { startIssuer, type KeyPair, type TestIssuer } from '@skerry/lab'
import type { HostId } from '@skerry/vm'

import {
  startEmulatedHost,
  type EmulatedHost,
} from '../../../packages/engine/test/emulated-host.ts'
import { openHostApi } from '../src/host/open-host-api.ts'

type Links = HostApi & Disposable

/** A machine that has joined a cloud: a real libvirtd, real certificates, and a cell that serves images. */
export interface CloudHost extends AsyncDisposable {
  readonly emulated: EmulatedHost
  readonly control: TestIssuer
  readonly hosts: TestIssuer
  readonly cell: KeyPair
  /** The cell's images, by digest. */
  readonly images: Map<string, Buffer>
  /** Digests whose transfer stalls in the middle. */
  readonly stalled: Set<string>
  /** The requests to the cell, with the name of the client. */
  readonly requested: string[]
  /** The SHA-256 of an image that the cell has. */
  readonly image: string
  readonly connect: (as?: KeyPair, hostId?: string) => Links
  /** Simulates that vmd was killed and restarted. */
  readonly restart: () => Promise<void>
  /** Replaces this host's certificate while vmd runs. */
  readonly renewWith: (pair: KeyPair) => Promise<void>
  /** Everything on disk that an order could change. */
  readonly onDisk: () => Promise<Record<string, string>>
}

/** The part of a cell that a host needs for images; returns its port. */
async function startCell(
  stack: AsyncDisposableStack,
  {
    cell,
    ca,
    images,
    requested,
    stalled,
  }: Pick<CloudHost, 'cell' | 'images' | 'requested' | 'stalled'> & { ca: string },
): Promise<number> {
  const machine = createServer({ ...cell, ca, requestCert: true }, (request, response) => {
    const [, digest = ''] = /^\/machine\/v1\/images\/([0-9a-f]+)\?/.exec(request.url ?? '') ?? []
    requested.push(request.url ?? '')
    const bytes = images.get(digest)
    if (bytes && stalled.has(digest)) {
      response.writeHead(200, { 'content-length': bytes.length })
      response.write(bytes.subarray(0, bytes.length / 2))
    } else if (bytes) response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
    else response.writeHead(403).end(JSON.stringify({ error: 'forbidden', message: 'not yours' }))
  })
  machine.listen(0, '127.0.0.1')
  await once(machine, 'listening')
  stack.defer(() => {
    machine.close()
    machine.closeAllConnections()
  })
  return (machine.address() as AddressInfo).port
}

/** The content of each file, in base64. */
async function filesBelow(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile()) found[file] = (await readFile(file)).toString('base64')
  }
  return found
}

export async function startCloudHost(): Promise<CloudHost> {
  await using stack = new AsyncDisposableStack()
  const emulated = stack.use(await startEmulatedHost())
  const control = stack.use(await startIssuer('control'))
  const hosts = stack.use(await startIssuer('hosts'))
  const { host } = emulated
  const directory = join(host.paths.data, 'cloud')
  const own = await hosts.issue('URI:skerry://lab/host/h1')
  const cell = await control.issue('URI:skerry://lab/cell/c1')
  const images = new Map<string, Buffer>()
  const requested: string[] = []
  const stalled = new Set<string>()
  const port = await startCell(stack, { cell, ca: hosts.cert, images, requested, stalled })
  await mkdir(directory, { recursive: true })
  const files = { 'certificate.pem': own.cert, 'key.pem': own.key, 'issuers.pem': control.cert }
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  await writeFile(join(directory, 'cells.json'), JSON.stringify([{ address: '127.0.0.1', port }]))
  const bytes = await readFile(join(host.paths.data, 'templates/default.qcow2'))
  const image = createHash('sha256').update(bytes).digest('hex')
  images.set(image, bytes)

  const open = async () => {
    const where = { address: '127.0.0.1', port: 0, version: 'test', log: () => undefined }
    const opened = await openHostApi(host, where)
    if (!opened) throw new Error('this machine has joined no cloud')
    return opened
  }
  let api = await open()
  stack.defer(() => api[Symbol.asyncDispose]())
  const links: Links[] = []
  stack.defer(() => {
    for (const link of links) link[Symbol.dispose]()
  })
  const all = stack.move()
  return {
    emulated,
    control,
    hosts,
    cell,
    images,
    requested,
    stalled,
    image,
    connect(as = cell, hostId = 'h1') {
      const tls = { ...as, ca: hosts.cert }
      const target = { address: '127.0.0.1', port: api.port, tls, hostId: hostId as HostId }
      const link = connectHost(target)
      links.push(link)
      return link
    },
    async restart() {
      await api[Symbol.asyncDispose]()
      api = await open()
    },
    async renewWith({ key, cert }) {
      await writeFile(join(directory, 'certificate.pem'), cert)
      await writeFile(join(directory, 'key.pem'), key)
      await api.renew()
    },
    onDisk: () => filesBelow(host.paths.data),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
