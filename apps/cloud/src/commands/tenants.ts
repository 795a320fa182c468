import { Fault } from '@skerry/fault'

import { maybe, needed, type Command } from '../command.ts'
import { hashPassword } from '../identity/password.ts'
import { roles, type Role } from '../identity/roles.ts'
import { addImage } from '../images/add-image.ts'
import { addAccount, addOrg, addTemplate, orgNamed } from '../store/accounts.ts'
import { withStore } from './with-store.ts'

const MIB = 1024 ** 2
const NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,127}$/

const orgAdd: Command = {
  name: 'org add',
  words: ['NAME'],
  options: { vdc: 'NAME' },
  summary: 'makes an organisation with one vdc, called main unless told',
  run: ({ print }, asked) =>
    withStore(asked, async (db) => {
      const name = named(asked.words[0])
      const org = await addOrg(db, name, named(maybe(asked, 'vdc') ?? 'main'))
      print(asked.options['json'] === true ? JSON.stringify({ org, name }) : `organisation ${name}`)
    }),
}

const userAdd: Command = {
  name: 'user add',
  words: ['USER@ORG'],
  options: { role: 'ROLE' },
  summary: `makes a user, with the password on standard input; roles: ${Object.keys(roles).join(', ')}`,
  run: ({ print, readInput, salt }, asked) =>
    withStore(asked, async (db) => {
      const [, user, org] = /^([^@]+)@([^@]+)$/.exec(asked.words[0] ?? '') ?? []
      if (user === undefined || org === undefined) {
        throw new Fault('invalid', 'a user is written as USER@ORG')
      }
      const role = roleNamed(needed(asked, 'role'))
      await orgNamed(db, org)
      const password = (await readInput()).replace(/\r?\n$/, '')
      if (password === '') throw new Fault('invalid', 'the password on standard input is empty')
      const hash = await hashPassword(password, salt())
      await addAccount(db, { org, name: named(user), role, password: hash })
      const said = { user, org, role }
      print(asked.options['json'] === true ? JSON.stringify(said) : `user ${user}@${org}, ${role}`)
    }),
}

const templateAdd: Command = {
  name: 'template add',
  words: ['FILE'],
  options: { org: 'ORG', name: 'NAME', cpus: 'N', memory: 'MIB', disk: 'MIB' },
  summary: 'copies a qcow2 image into the store and makes a template of it',
  run: ({ print, secret }, asked) =>
    withStore(asked, async (db, { images }) => {
      const [file = ''] = asked.words
      const [org, name] = [needed(asked, 'org'), named(needed(asked, 'name'))]
      await orgNamed(db, org)
      const image = await addImage(images, file, secret())
      const virtualMiB = Math.ceil(image.virtualBytes / MIB)
      const diskMiB = count(maybe(asked, 'disk') ?? String(virtualMiB), '--disk')
      if (diskMiB < virtualMiB) {
        throw new Fault('invalid', `--disk must be at least ${virtualMiB}: the image is as large`)
      }
      const template = await addTemplate(db, {
        ...{ org, name, diskMiB, image: { ...image, virtualMiB } },
        cpus: count(maybe(asked, 'cpus') ?? '1', '--cpus'),
        memoryMiB: count(maybe(asked, 'memory') ?? '512', '--memory'),
      })
      const { digest } = image
      print(
        asked.options['json'] === true
          ? JSON.stringify({ template, org, name, digest })
          : `template ${name} of ${org}: ${digest}`,
      )
    }),
}

export const tenants: readonly Command[] = [orgAdd, userAdd, templateAdd]

function named(text = ''): string {
  if (NAME.test(text)) return text
  throw new Fault('invalid', `${text} is no name: letters, digits, blanks and _.- after the first`)
}

function roleNamed(text: string): Role {
  if (text in roles) return text as Role
  throw new Fault('invalid', `--role must be one of: ${Object.keys(roles).join(', ')}`)
}

function count(text: string, option: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw new Fault('invalid', `${option} must be a whole number above 0, not ${text}`)
}
