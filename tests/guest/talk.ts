// node talk.ts ADDRESS: one TCP connection to an echo server, with a numbered line every 20 ms until standard input ends. Prints the
// number of each line that comes back and when, and ends when all have.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const SPEAK_MS = 20
const ECHO_PORT = 7

const socket = connect({ host: process.argv[2] ?? '', port: ECHO_PORT, noDelay: true })
socket.once('error', (error) => {
  console.log(`the connection is lost: ${error.message}`)
  process.exit(1)
})
let [sent, heard, isOver] = [0, 0, false]
const endIfHeard = (): void => {
  if (isOver && heard === sent) socket.destroy()
}
const speaking = setInterval(() => socket.write(`${sent++}\n`), SPEAK_MS)
process.stdin.resume().once('end', () => {
  clearInterval(speaking)
  isOver = true
  endIfHeard()
})
createInterface({ input: socket }).on('line', (line) => {
  console.log(`${line} ${Math.round(performance.now())}`)
  heard++
  endIfHeard()
})
