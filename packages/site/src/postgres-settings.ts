// Settings of a PostgreSQL server of our own, on loopback.

export interface PostgresPlace {
  /** Its data directory. */
  readonly data: string
  readonly port: number
  /** Additional or overriding settings. */
  readonly more?: Readonly<Record<string, string>>
}

/** Command-line arguments of the server. */
export function postgresWords({ data, port, more }: PostgresPlace): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '300',
    // Files in the data directory instead of /dev/shm, where those of a killed server would remain.
    dynamic_shared_memory_type: 'mmap',
    ...more,
  }
  return [
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}
