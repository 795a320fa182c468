import { element, type Element } from '@skerry/xml'

import type { Caller } from '../auth/caller.ts'
import { statusNumber } from '../domain/vm-status.ts'
import { link, type Hrefs } from '../http/links.ts'
import type { TemplateRow } from '../tenants/orgs.ts'
import { emptyCardSection, hardwareSection } from './sections.ts'

const status = statusNumber.POWERED_OFF

export const template = (row: TemplateRow, caller: Caller, hrefs: Hrefs): Element => {
  const { id, name, image, cpus, memory_mib, disk_mib } = row
  const { dialect } = caller
  return element(
    'VAppTemplate',
    {
      name,
      id: dialect.urn('vapptemplate', id),
      status,
      type: dialect.media('vAppTemplate'),
      href: hrefs.template(id),
    },
    element('Digest', { algorithm: 'sha256' }, image),
    element('NumberOfCpus', {}, cpus),
    element('MemoryMB', {}, memory_mib),
    element('DiskMB', {}, disk_mib),
    element('Children', {}, templateVm(row, caller, hrefs)),
  )
}

/** A template holds one VM: this is the template itself, for clients that look for VMs in it. */
export const templateVm = (row: TemplateRow, { dialect }: Caller, hrefs: Hrefs): Element =>
  element(
    'Vm',
    {
      name: row.name,
      id: dialect.urn('vapptemplate', row.id),
      status,
      deployed: false,
      type: dialect.media('vm'),
      href: hrefs.templateVm(row.id),
    },
    link('up', hrefs.template(row.id), { type: dialect.media('vAppTemplate') }),
    hardwareSection(row),
    emptyCardSection(),
  )
