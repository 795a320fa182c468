import { tenantAdmin } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import { named } from '../command-line/account-named.ts'
import { maybe, needed, printRows, runs, type AdminCommand } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import { addImage } from '../images/add-image.ts'
import { addTemplate, orgNamed } from '../tenants/accounts.ts'
import { listTemplates } from '../tenants/operator-lists.ts'

const MIB = 1024 ** 2

const templateAdd = runs(tenantAdmin.importTemplate, ({ print, secret }, requested) =>
  withStore(requested, async (db, { images }) => {
    const [file = ''] = requested.words
    const [org, name] = [needed(requested, 'org'), named(needed(requested, 'name'))]
    await orgNamed(db, org)
    const image = await addImage(images, file, secret())
    const virtualMiB = Math.ceil(image.virtualBytes / MIB)
    const diskMiB = count(maybe(requested, 'disk') ?? String(virtualMiB), '--disk')
    if (diskMiB < virtualMiB) {
      throw new Fault('invalid', `--disk must be at least ${virtualMiB}, the size of the image`)
    }
    const template = await addTemplate(db, {
      org,
      name,
      diskMiB,
      image: { ...image, virtualMiB },
      cpus: count(maybe(requested, 'cpus') ?? '1', '--cpus'),
      memoryMiB: count(maybe(requested, 'memory') ?? '512', '--memory'),
    })
    const { digest } = image
    print(
      requested.json
        ? JSON.stringify({ template, org, name, digest })
        : `template ${name} of ${org}: ${digest}`,
    )
  }),
)

const templateList = runs(tenantAdmin.listTemplates, (context, requested) =>
  withStore(requested, async (db) => {
    const org = maybe(requested, 'org')
    const of = org === undefined ? undefined : await orgNamed(db, org)
    const rows = (await listTemplates(db, of)).map((each) => ({ ...each }))
    printRows(context, requested, rows, ['name', 'org', 'cpus', 'memoryMiB', 'diskMiB', 'id'])
  }),
)

export const templates: readonly AdminCommand[] = [templateAdd, templateList]

function count(text: string, option: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw new Fault('invalid', `${option} must be a whole number above 0, not ${text}`)
}
