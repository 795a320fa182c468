// The settings of a PostgreSQL that is all ours, on loopback.

export interface PostgresPlace {
  /** Its data directory. */
  readonly data: string
  readonly port: number
  /** Settings beside these, or in their place. */
  readonly more?: Readonly<Record<string, string>>
}

/** The words after the name of the server's program. */
export function postgresWords({ data, port, more }: PostgresPlace): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '300',
    // Files in the data directory instead of in /dev/shm, where a killed server's would stay.
    dynamic_shared_memory_type: 'mmap',
    ...more,
  }
  return [
    ...['-D', data],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}
