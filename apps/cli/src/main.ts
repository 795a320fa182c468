import { randomBytes } from 'node:crypto'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

import { commands } from './commands.ts'
import { whyNotConnected } from './machine/checks.ts'
import { runProgram, runQuietly } from './machine/child.ts'
import { profileFile } from './profiles/profile-file.ts'
import { runCommand } from './run-command.ts'
import { readSecret } from './terminal/secret.ts'

const CONNECT_MS = 2000
const { stdout, stderr, env } = process
// Only the first entry of a colon-separated list.
const [chosenBrowser] = (env['BROWSER'] ?? '').split(':')
const desktop = env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined
const settings = env['XDG_CONFIG_HOME'] || join(homedir(), '.config')
// A reader such as head may close the pipe early: that is not an error.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await runCommand(
  {
    url: env['SKERRY_URL'] || 'http://127.0.0.1:8080',
    token: env['SKERRY_TOKEN'] || undefined,
    profile: env['SKERRY_PROFILE'] || undefined,
    profiles: profileFile(join(settings, 'skerry', 'profiles.json')),
    machineName: hostname(),
    readSecret: async (prompt) => readSecret(prompt, process.stdin, stderr),
    print: (text) => void stdout.write(`${text}\n`),
    write: (text) => void stdout.write(text),
    complain: (text) => void stderr.write(`${text}\n`),
    screen: stderr.isTTY
      ? {
          // Some terminals report no width.
          columns: stderr.columns || 80,
          write: (text) => void stderr.write(text),
        }
      : undefined,
    colours: stdout.isTTY && !env['NO_COLOR'],
    now: () => performance.now(),
    wait: async (ms) => wait(ms),
    onInterrupt: (hear) => {
      process.once('SIGINT', hear)
      return () => void process.off('SIGINT', hear)
    },
    runProgram,
    runQuietly,
    listens: async (address, port) =>
      (await whyNotConnected({ host: address, port, timeout: CONNECT_MS })) === undefined,
    browser: chosenBrowser || desktop,
    workflows: {
      server: env['SKERRY_WORKFLOW_SERVER'] || undefined,
      user: env['SKERRY_WORKFLOW_USER'] || undefined,
      password: env['SKERRY_WORKFLOW_PASSWORD'] || undefined,
      ca: env['SKERRY_WORKFLOW_CA'] || undefined,
    },
    readInput: async () => text(process.stdin),
    uid: process.getuid?.() ?? -1,
    // Reproducible packages need a reproducible date (reproducible-builds.org).
    today: () => new Date(Number(env['SOURCE_DATE_EPOCH']) * 1000 || Date.now()),
    path: env['PATH'] ?? '',
    cache: join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'skerry'),
    secret: () => randomBytes(32).toString('base64url'),
    confirm,
    interrupted: async () =>
      new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve)
      }),
  },
  commands,
  process.argv.slice(2),
)

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !stderr.isTTY) return false
  const asking = createInterface({ input: process.stdin, output: stderr })
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `)).trim())
  } finally {
    asking.close()
  }
}
