/** Origins that a foreign page could send, or that a careless comparison would accept as the console's own. */
export function hostileOrigins(page: string): string[] {
  const { protocol, host, hostname, port } = new URL(page)
  return [
    ...['https://evil.example', 'http://evil.example', 'https://evil.example:443', 'null'],
    ...['file://', 'data:', 'about:blank', 'chrome-extension://abcdefghijklmnop', 'https://'],
    ...['*', 'undefined', 'false', hostname, host, `//${host}`, `///${host}`],
    ...[`http://${host}`, `wss://${host}`, `${protocol}//${hostname}`, `${protocol}//${host}0`],
    ...[`${protocol}//${hostname}:${Number(port) + 1}`, `${protocol}//${host}/`],
    ...[`${protocol}//${host}.evil.example`, `${protocol}//evil.example/${host}`],
    ...[`${protocol}//evil.example#${host}`, `${protocol}//evil.example?${protocol}//${host}`],
    ...[`${protocol}//${host}@evil.example`, `${protocol}//user@${host}`],
    ...[`${protocol}//127.0.0.1:${port}`, `${protocol.toUpperCase()}//${host}`],
  ]
}
