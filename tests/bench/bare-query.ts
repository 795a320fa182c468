// The baseline: Fastify, a pool and one SQL statement per request; no session, no tenants, no XML.
import type { AddressInfo } from 'node:net'

import fastify from 'fastify'
import { Pool } from 'pg'

const [url = '', org = '', vm = ''] = process.argv.slice(2)
const pool = new Pool({ connectionString: url, max: 8 })
const server = fastify()
server.get('/query', async () => {
  const { rows } = await pool.query(
    `select id, name, container_name from vm where org = $1 and displayed_status = $2 and deleted_at is null order by id limit 25`,
    [org, 'POWERED_ON'],
  )
  return rows
})
server.get('/vm', async () => {
  const { rows } = await pool.query('select * from vm where id = $1 and deleted_at is null', [vm])
  return rows[0]
})
await server.listen({ port: 0, host: '127.0.0.1' })
console.log((server.server.address() as AddressInfo).port)
process.stdin.on('end', () => process.exit()).resume()
