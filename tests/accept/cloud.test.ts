// Goal: the complete cloud API as clients see it: the flow of the specification with curl, every action on guests that boot,
// every error, every link. Method: one lab of two hosts with libvirt and two cells behind a balancer; the parts are in
// tests/accept/cloud, and each continues with the resources of the previous ones.
import { after, before } from 'node:test'

import { testErrors } from './cloud/errors.ts'
import { testFlow, testLogin, testLogout } from './cloud/flow.ts'
import { testGuestSeed } from './cloud/guest-seed.ts'
import { Ledger } from './cloud/links.ts'
import { openPlace, skip, type Place } from './cloud/place.ts'
import { testQueries } from './cloud/queries.ts'
import { testAll, testRest, testWalk } from './cloud/rest.ts'
import { testUpload } from './cloud/upload.ts'
import { testTickets, testVappActions } from './cloud/vapp-actions.ts'
import { testVmActions } from './cloud/vm-actions.ts'

let place: Place | undefined
before(async () => {
  if (skip === false) place = await openPlace()
})
after(() => place?.[Symbol.asyncDispose]())

const ledger = new Ledger()
testLogin()
testFlow(ledger)
testQueries(ledger)
testErrors()
testWalk(ledger, 'one VM on, others off')
testVmActions(ledger)
testVappActions(ledger)
testTickets(ledger)
testRest(ledger)
testUpload(ledger)
testGuestSeed(ledger)
testWalk(ledger, 'after all tests')
testLogout()
testAll(ledger)
