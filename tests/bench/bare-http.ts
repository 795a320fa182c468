// The baseline: node:http alone, with the same response as vmd, in its own process.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const body = process.argv[2] ?? ''
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
}
const server = createServer((_request, response) => {
  response.writeHead(200, headers).end(body)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.on('end', () => process.exit()).resume()
