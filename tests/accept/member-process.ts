// Runs inside a lab host as the given user: one request per input line, one response per output line.
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const uid = Number(process.argv[2])
process.setgroups?.([])
process.setgid?.(uid)
process.setuid?.(uid)

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
for await (const line of createInterface({ input: process.stdin })) {
  const { method, path, body } = JSON.parse(line) as Record<string, string>
  const sent = request({ agent, method, path, host: '127.0.0.1', port: 8080 }).end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const said = { status: answer.statusCode, body: await text(answer) }
  process.stdout.write(`${JSON.stringify(said)}\n`)
}
agent.destroy()
