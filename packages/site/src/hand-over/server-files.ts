// The files that a server needs, by its configuration. Pure: nothing here reads or changes a file.
import { basename, dirname, join } from 'node:path'

/** Files of one server, to be owned by its user. */
export interface ServerFiles {
  /** Directories that it reads and writes, with their contents. */
  readonly trees: readonly string[]
  /** The directory of a socket that members of its group may connect to. */
  readonly socket: string | undefined
  /** New content of the configuration, if an older version wrote it differently. */
  readonly text: string | undefined
}

const SOCKET = 'egress.sock'
/** A separate directory for the socket: a user who can create the socket must not create files beside the keys of others. */
const SOCKET_DIRECTORY = 'egress'

/** The egress has no other files. Its configuration is beside that of the workflow server, whose keys it must not get by naming them. */
const EGRESS = 'egress.json'

/** `file`: path of the configuration, `text`: its content. The server could have written it, so `handOver` checks where the trees are. */
export function serverFiles(file: string, text: string): ServerFiles {
  const config = JSON.parse(text) as Record<string, unknown>
  const moved = { ...config, ...moveSocket(config, 'listen'), ...moveSocket(config, 'egress') }
  const isSame = moved['listen'] === config['listen'] && moved['egress'] === config['egress']
  const named = [config['identity'], config['images'], config['data'], keysOf(config['tls'], file)]
  const trees = named.filter((each) => typeof each === 'string')
  const { listen } = moved
  const own = join(dirname(file), SOCKET_DIRECTORY)
  const hasOwn = typeof listen === 'string' && dirname(listen) === own
  return {
    trees: basename(file) === EGRESS ? [] : trees,
    // A directory elsewhere may also be used by others.
    socket: hasOwn ? own : undefined,
    text: isSame ? undefined : `${JSON.stringify(moved, null, 2)}\n`,
  }
}

/** Older versions had the socket of the egress beside the keys of the workflow server. */
function moveSocket(
  config: Readonly<Record<string, unknown>>,
  key: 'listen' | 'egress',
): Readonly<Record<string, string>> {
  const path = config[key]
  if (typeof path !== 'string' || basename(path) !== SOCKET) return {}
  const directory = dirname(path)
  if (basename(directory) === SOCKET_DIRECTORY) return {}
  return { [key]: join(directory, SOCKET_DIRECTORY, SOCKET) }
}

/** The directory of the PEM files of a network server, if it is beside its configuration: one elsewhere may hold files of others. */
function keysOf(tls: unknown, file: string): string | undefined {
  const { key } = (tls ?? {}) as { readonly key?: unknown }
  const directory = typeof key === 'string' ? dirname(key) : ''
  return directory.startsWith(`${dirname(file)}/`) ? directory : undefined
}
