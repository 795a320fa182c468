// log-writer MAX FILE…: writes the input of file descriptors 3, 4, … to these files of limited size. Exits when all inputs are closed.
import { Socket } from 'node:net'

import { BoundedLog } from './bounded-log.ts'

const FIRST = 3

const [max = '', ...files] = process.argv.slice(2)
for (const [at, file] of files.entries()) {
  const log = new BoundedLog(file, Number(max))
  const input = new Socket({ fd: FIRST + at, readable: true, writable: false })
  input.on('data', (chunk: Buffer) => {
    try {
      log.write(chunk)
    } catch {
      // A full disk loses lines; if this process ended, each server would end with its next line.
    }
  })
  // A killed server may leave a broken socket.
  input.on('error', () => undefined)
  input.on('close', () => log.close())
}
