// Goal: the README's five commands lead from a clone to a shell in a VM. Method: the lines unmodified, run by a shell on a lab
// host. Two differences from a user's run: the clone and its packages exist already, and the template is an image that boots
// quickly, given to the same command by --keep (tests/accept/cloud-init.test.ts builds the real one).
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { guestImage, reasonToSkip, startHost, until } from '@skerry/lab'

import { linesAfter } from './readme-lines.ts'

const skip = reasonToSkip('host', 'small') ?? false
const ROOT = join(import.meta.dirname, '../..')
const START_MS = 120_000
const run = promisify(execFile)

test('five commands of the README lead to a shell in a VM', { skip }, async () => {
  const lines = await linesAfter('README.md', 'in five commands:')
  assert.equal(lines.length, 5)
  assert.deepEqual(lines, await linesAfter('docs/tutorials/first-vm.md', 'to a shell in a VM:'))
  const [install = '', daemon = '', build = '', create = '', ssh = ''] = lines

  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'readme-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const host = stack.use(await startHost({ dir: join(dir, 'host') }))
  const home = join(dir, 'home')
  await mkdir(join(home, '.ssh'), { recursive: true, mode: 0o700 })
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, '.ssh/id_ed25519')])
  // ssh reads the home directory from passwd, not from the environment.
  const users = join(dir, 'passwd')
  const known = await readFile('/etc/passwd', 'utf8')
  await writeFile(users, known.replace(/^(root:.*:)[^:]*(:[^:]*)$/m, `$1${home}$2`))
  await host.run(['mount', '--bind', users, '/etc/passwd'])

  // The test runs as root, and not every machine has sudo.
  const options = { cwd: ROOT, env: { ...process.env, HOME: home } }
  const shell = (line: string) => ['bash', '-c', line.replace(/\bsudo /g, '')]
  const does = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await host.run(shell(line), options)
    assert.equal(code, 0, `${line}: ${stderr}`)
    return stdout
  }

  assert.match(install, / && npm ci$/)
  assert.match(await does(install.replace(' && npm ci', '')), /everything is already installed/)
  const child = host.spawn(shell(`exec ${daemon.replace('sudo ', '')}`), {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until('vmd answers', () => said.includes('vmd answers at'), START_MS)
  const kept = build.replace(/ +#.*/, ` --keep ${await guestImage('small')}`)
  assert.match(await does(kept), /^template default is ready/)
  assert.match(await does(create), /^my-vm is created and powered on/)
  assert.equal(await does(`echo 'echo here is $(hostname)' | ${ssh}`), 'here is my-vm\n')
})
