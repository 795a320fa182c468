import { element, type Element } from '@skerry/xml'

import type { Asker } from '../http/asker.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { TemplateRow } from '../store/orgs.ts'
import { statusNumber } from '../vm-status.ts'
import { hardwareSection } from './sections.ts'

const status = statusNumber.POWERED_OFF

export const template = (row: TemplateRow, asker: Asker, hrefs: Hrefs): Element => {
  const { id, name, image, cpus, memory_mib, disk_mib } = row
  const { dialect } = asker
  return element(
    'VAppTemplate',
    {
      ...{ name, id: dialect.urn('vapptemplate', id), status },
      ...{ type: dialect.media('vAppTemplate'), href: hrefs.template(id) },
    },
    element('Digest', { algorithm: 'sha256' }, image),
    element('NumberOfCpus', {}, cpus),
    element('MemoryMB', {}, memory_mib),
    element('DiskMB', {}, disk_mib),
    element('Children', {}, templateVm(row, asker, hrefs)),
  )
}

/** What is made of a template is one VM: it is the template itself, as clients that look for VMs in it see it. */
export const templateVm = (row: TemplateRow, { dialect }: Asker, hrefs: Hrefs): Element =>
  element(
    'Vm',
    {
      ...{ name: row.name, id: dialect.urn('vapptemplate', row.id), status, deployed: false },
      ...{ type: dialect.media('vm'), href: hrefs.templateVm(row.id) },
    },
    link('up', hrefs.template(row.id), { type: dialect.media('vAppTemplate') }),
    hardwareSection(row),
  )
