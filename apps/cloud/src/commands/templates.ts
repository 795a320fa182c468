import { Fault } from '@skerry/fault'

import { maybe, needed, printRows, type Command } from '../command.ts'
import { addImage } from '../images/add-image.ts'
import { addTemplate, orgNamed } from '../store/accounts.ts'
import { listTemplates } from '../store/rule.ts'
import { named } from './account-named.ts'
import { withStore } from './with-store.ts'

const MIB = 1024 ** 2

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

const templateList: Command = {
  name: 'template list',
  words: [],
  options: { org: 'ORG' },
  summary: 'all templates, or those of an organisation, with their sizes',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const org = maybe(asked, 'org')
      const of = org === undefined ? undefined : await orgNamed(db, org)
      const rows = (await listTemplates(db, of)).map((each) => ({ ...each }))
      printRows(world, asked, rows, ['name', 'org', 'cpus', 'memoryMiB', 'diskMiB', 'id'])
    }),
}

export const templates: readonly Command[] = [templateAdd, templateList]

function count(text: string, option: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw new Fault('invalid', `${option} must be a whole number above 0, not ${text}`)
}
