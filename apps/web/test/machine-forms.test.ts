import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  settingsChanges,
  settingsCommand,
  whyNotNewVm,
  whyNotSettings,
} from '../src/model/machine/machine-forms.ts'
import { machineVmOf } from '../src/model/machine/machine-vm.ts'

const settings = { cpus: 2, memoryMiB: 2048, diskMiB: 10_240, autostart: false }
const vmThatIs = (state: string) =>
  machineVmOf({ ...settings, id: 'web', name: 'web', tag: '', sharing: false, state })

test('a new VM needs a template, a name that vmd takes, and whole numbers', () => {
  const wanted = { id: 'web', template: 'default', cpus: 1, memoryMiB: 1024 }
  assert.equal(whyNotNewVm(wanted), undefined)
  assert.match(whyNotNewVm({ ...wanted, template: undefined }) ?? '', /no template/)
  assert.equal(whyNotNewVm({ ...wanted, id: '' }), 'the VM needs a name')
  assert.match(whyNotNewVm({ ...wanted, id: 'power' }) ?? '', /must not be one of/)
  assert.match(whyNotNewVm({ ...wanted, memoryMiB: 0.5 }) ?? '', /whole numbers/)
})

test('only changed settings are sent, and hardware only of a VM that is off', () => {
  const [on, off] = [vmThatIs('powered on'), vmThatIs('powered off')]
  assert.equal(whyNotSettings(settings, off), 'nothing has changed')
  assert.deepEqual(settingsChanges({ ...settings, cpus: 4 }, off), { cpus: 4 })
  assert.equal(whyNotSettings({ ...settings, cpus: 4 }, off), undefined)
  assert.equal(whyNotSettings({ ...settings, cpus: 4 }, on), 'it is on; this needs it off')
  assert.equal(whyNotSettings({ ...settings, autostart: true }, on), undefined)
  assert.match(whyNotSettings({ ...settings, diskMiB: 1024 }, off) ?? '', /not shrink/)
  assert.equal(
    settingsCommand('web', settings),
    'skerry set web --cpus 2 --memory 2G --disk 10G --autostart no',
  )
})
