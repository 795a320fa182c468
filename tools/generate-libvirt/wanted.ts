// The parts of libvirt's protocol that packages/libvirt offers. To add a call, add its name to the list,
// run `npm run generate:libvirt -- DIRECTORY` and commit both.

/**
 * Calls, by their generated name: REMOTE_PROC_DOMAIN_GET_XML_DESC is domainGetXmlDesc, and
 * QEMU_PROC_DOMAIN_MONITOR_COMMAND is qemuDomainMonitorCommand.
 */
export const procedures: readonly string[] = [
  // The connection and its server.
  'authList authPolkit connectOpen connectClose connectSupportsFeature connectGetType',
  'connectGetVersion connectGetLibVersion connectGetHostname connectGetUri connectIsSecure',
  'connectGetCapabilities connectGetDomainCapabilities connectGetSysinfo connectGetMaxVcpus',
  'connectGetCpuModelNames connectCompareCpu connectBaselineCpu connectCompareHypervisorCpu',
  'connectBaselineHypervisorCpu connectDomainXmlToNative connectDomainXmlFromNative',
  'nodeGetInfo nodeGetCpuStats nodeGetMemoryStats nodeGetFreeMemory nodeGetCellsFreeMemory',
  'nodeGetCpuMap nodeGetFreePages',

  // Domains: lookup, define, undefine.
  'connectNumOfDomains connectListDomains connectListAllDomains connectGetAllDomainStats',
  'domainLookupById domainLookupByName domainLookupByUuid domainDefineXml domainDefineXmlFlags',
  'domainUndefine domainUndefineFlags domainRename domainIsActive domainIsPersistent',
  'domainIsUpdated domainGetXmlDesc domainGetMetadata domainSetMetadata domainGetAutostart',
  'domainSetAutostart domainGetOsType domainGetHostname domainGetMessages',

  // Domains: power.
  'domainCreate domainCreateWithFlags domainCreateXml domainDestroy domainDestroyFlags',
  'domainShutdown domainShutdownFlags domainReboot domainReset domainSuspend domainResume',
  'domainPmSuspendForDuration domainPmWakeup domainManagedSave domainHasManagedSaveImage',
  'domainManagedSaveRemove domainManagedSaveGetXmlDesc domainManagedSaveDefineXml domainSave',
  'domainSaveFlags domainSaveParams domainRestore domainRestoreFlags domainRestoreParams',
  'domainSaveImageGetXmlDesc domainSaveImageDefineXml domainSetLifecycleAction domainInjectNmi',
  'domainCoreDumpWithFormat',

  // Domains: state, jobs, statistics.
  'domainGetState domainGetInfo domainGetControlInfo domainGetJobInfo domainGetJobStats',
  'domainAbortJob domainAbortJobFlags domainMemoryStats domainSetMemoryStatsPeriod',
  'domainGetCpuStats domainInterfaceStats domainInterfaceAddresses domainGetVcpus',
  'domainGetVcpusFlags domainGetMaxMemory domainGetMaxVcpus domainGetDiskErrors',

  // Domains: configuration and devices.
  'domainAttachDevice domainAttachDeviceFlags domainUpdateDeviceFlags domainDetachDevice',
  'domainDetachDeviceFlags domainDetachDeviceAlias domainSetVcpusFlags domainSetVcpu',
  'domainSetMemoryFlags domainSetMaxMemory domainPinVcpuFlags domainSetSchedulerParametersFlags',
  'domainGetSchedulerParametersFlags domainSetBlockIoTune domainGetBlockIoTune',
  'domainSetInterfaceParameters domainGetInterfaceParameters',

  // Domains: disks.
  'domainBlockStats domainBlockStatsFlags domainGetBlockInfo domainBlockResize domainBlockPeek',
  'domainBlockCopy domainBlockCommit domainBlockPull domainBlockRebase domainBlockJobAbort',
  'domainGetBlockJobInfo domainBlockJobSetSpeed domainSetBlockThreshold domainBackupBegin',
  'domainBackupGetXmlDesc',

  // Domains: snapshots.
  'domainSnapshotCreateXml domainSnapshotGetXmlDesc domainListAllSnapshots',
  'domainSnapshotLookupByName domainHasCurrentSnapshot domainSnapshotCurrent',
  'domainSnapshotIsCurrent domainSnapshotHasMetadata domainSnapshotGetParent',
  'domainSnapshotNum domainSnapshotNumChildren domainSnapshotListAllChildren',
  'domainRevertToSnapshot domainSnapshotDelete',

  // Domains: the guest, its screen and its channels.
  'domainScreenshot domainOpenConsole domainOpenChannel domainSendKey domainFsfreeze domainFsthaw',
  'domainFstrim domainGetFsinfo domainGetTime domainSetTime domainGetGuestInfo',
  'domainSetUserPassword domainAgentSetResponseTimeout domainAuthorizedSshKeysGet',
  'domainAuthorizedSshKeysSet qemuDomainMonitorCommand qemuDomainAgentCommand',
  'qemuConnectDomainMonitorEventRegister qemuConnectDomainMonitorEventDeregister',

  // Migration, with separate calls for each side.
  'domainMigrateBegin3 domainMigratePrepare3 domainMigratePrepareTunnel3 domainMigratePerform3',
  'domainMigrateFinish3 domainMigrateConfirm3 domainMigrateBegin3Params',
  'domainMigratePrepare3Params domainMigratePrepareTunnel3Params domainMigratePerform3Params',
  'domainMigrateFinish3Params domainMigrateConfirm3Params domainMigrateSetMaxDowntime',
  'domainMigrateGetMaxDowntime domainMigrateSetMaxSpeed domainMigrateGetMaxSpeed',
  'domainMigrateSetCompressionCache domainMigrateGetCompressionCache domainMigrateStartPostCopy',

  // Storage.
  'connectListAllStoragePools storagePoolLookupByName storagePoolLookupByUuid',
  'storagePoolLookupByVolume storagePoolLookupByTargetPath storagePoolDefineXml',
  'storagePoolCreateXml storagePoolCreate storagePoolBuild storagePoolDestroy storagePoolDelete',
  'storagePoolUndefine storagePoolRefresh storagePoolGetInfo storagePoolGetXmlDesc',
  'storagePoolGetAutostart storagePoolSetAutostart storagePoolIsActive storagePoolIsPersistent',
  'storagePoolListAllVolumes storageVolCreateXml storageVolCreateXmlFrom storageVolDelete',
  'storageVolWipe storageVolLookupByName storageVolLookupByKey storageVolLookupByPath',
  'storageVolGetInfo storageVolGetInfoFlags storageVolGetXmlDesc storageVolGetPath',
  'storageVolResize storageVolUpload storageVolDownload',

  // Networks.
  'connectListAllNetworks networkLookupByName networkLookupByUuid networkDefineXml',
  'networkDefineXmlFlags networkCreateXml networkCreateXmlFlags networkCreate networkDestroy',
  'networkUndefine networkUpdate networkGetXmlDesc networkGetBridgeName networkGetDhcpLeases',
  'networkGetAutostart networkSetAutostart networkIsActive networkIsPersistent',

  // Events.
  'connectDomainEventCallbackRegisterAny connectDomainEventCallbackDeregisterAny',
].flatMap((line) => line.split(' '))

/** Calls that open a stream although the protocol file does not mark it. */
export const streams: Readonly<Record<string, 'read' | 'write'>> = {
  domainMigratePrepareTunnel3Params: 'write',
}

/**
 * Enums of the C headers. Each becomes one object under its own name without `vir`; its keys are the members without their common
 * prefix, or without the prefix given here.
 */
export const enums: Readonly<Record<string, { name?: string; prefix?: string }>> = {
  virErrorNumber: { name: 'ErrorCode', prefix: 'VIR_ERR_' },
  virErrorDomain: { prefix: 'VIR_FROM_' },
  virErrorLevel: {},
  virConnectListAllDomainsFlags: {},
  virConnectGetAllDomainStatsFlags: {},
  virDomainStatsTypes: {},
  virCPUCompareResult: {},
  virDomainState: {},
  virDomainRunningReason: {},
  virDomainPausedReason: {},
  virDomainShutdownReason: {},
  virDomainShutoffReason: {},
  virDomainCrashedReason: {},
  virDomainControlState: {},
  virDomainModificationImpact: {},
  virDomainCreateFlags: {},
  virDomainDefineFlags: { prefix: 'VIR_DOMAIN_DEFINE_' },
  virDomainUndefineFlagsValues: {},
  virDomainShutdownFlagValues: {},
  virDomainRebootFlagValues: {},
  virDomainDestroyFlagsValues: {},
  virDomainSaveRestoreFlags: {},
  virDomainXMLFlags: {},
  virDomainMetadataType: {},
  virDomainMemoryStatTags: {},
  virDomainMemoryModFlags: {},
  virDomainVcpuFlags: {},
  virDomainDeviceModifyFlags: {},
  virDomainLifecycle: {},
  virDomainLifecycleAction: {},
  virDomainInterfaceAddressesSource: {},
  virIPAddrType: {},
  virDomainGuestInfoTypes: {},
  virDomainAgentResponseTimeoutValues: {},
  virDomainQemuAgentCommandTimeoutValues: {},
  virDomainQemuMonitorCommandFlags: {},
  virConnectDomainQemuMonitorEventRegisterFlags: {},
  virDomainConsoleFlags: {},
  virDomainChannelFlags: { prefix: 'VIR_DOMAIN_CHANNEL_' },
  virKeycodeSet: {},
  virDomainSetTimeFlags: { prefix: 'VIR_DOMAIN_TIME_' },
  virDomainJobType: {},
  virDomainJobOperation: {},
  virDomainGetJobStatsFlags: {},
  virDomainAbortJobFlagsValues: { prefix: 'VIR_DOMAIN_ABORT_JOB_' },
  virDomainBlockResizeFlags: { prefix: 'VIR_DOMAIN_BLOCK_RESIZE_' },
  virDomainBlockJobType: {},
  virDomainBlockJobAbortFlags: {},
  virDomainBlockJobInfoFlags: { prefix: 'VIR_DOMAIN_BLOCK_JOB_INFO_' },
  virDomainBlockPullFlags: { prefix: 'VIR_DOMAIN_BLOCK_PULL_' },
  virDomainBlockRebaseFlags: {},
  virDomainBlockCopyFlags: {},
  virDomainBlockCommitFlags: {},
  virDomainDiskErrorCode: {},
  virDomainMigrateFlags: {},
  virDomainSnapshotCreateFlags: {},
  virDomainSnapshotXMLFlags: { prefix: 'VIR_DOMAIN_SNAPSHOT_XML_' },
  virDomainSnapshotListFlags: {},
  virDomainSnapshotRevertFlags: {},
  virDomainSnapshotDeleteFlags: {},
  virDomainEventID: {},
  virDomainEventType: {},
  virDomainEventDefinedDetailType: {},
  virDomainEventUndefinedDetailType: {},
  virDomainEventStartedDetailType: {},
  virDomainEventSuspendedDetailType: {},
  virDomainEventResumedDetailType: {},
  virDomainEventStoppedDetailType: {},
  virDomainEventShutdownDetailType: {},
  virDomainEventPMSuspendedDetailType: {},
  virDomainEventCrashedDetailType: {},
  virDomainEventWatchdogAction: {},
  virDomainEventIOErrorAction: {},
  virDomainEventGraphicsPhase: {},
  virDomainEventTrayChangeReason: {},
  virConnectDomainEventBlockJobStatus: {},
  virConnectDomainEventDiskChangeReason: {},
  virConnectDomainEventAgentLifecycleState: {},
  virConnectDomainEventAgentLifecycleReason: {},
  virDomainMemoryFailureRecipientType: {},
  virDomainMemoryFailureActionType: {},
  virDomainMemoryFailureFlags: {},
  virTypedParameterFlags: { prefix: 'VIR_TYPED_PARAM_' },
  virStoragePoolState: {},
  virStoragePoolBuildFlags: {},
  virStoragePoolCreateFlags: {},
  virStoragePoolDeleteFlags: {},
  virConnectListAllStoragePoolsFlags: {},
  virStorageVolType: {},
  virStorageVolCreateFlags: {},
  virStorageVolDeleteFlags: {},
  virStorageVolInfoFlags: {},
  virStorageVolResizeFlags: {},
  virStorageVolUploadFlags: { prefix: 'VIR_STORAGE_VOL_UPLOAD_' },
  virStorageVolDownloadFlags: { prefix: 'VIR_STORAGE_VOL_DOWNLOAD_' },
  virConnectListAllNetworksFlags: {},
  virNetworkXMLFlags: { prefix: 'VIR_NETWORK_XML_' },
  virNetworkUpdateCommand: {},
  virNetworkUpdateSection: {},
  virNetworkUpdateFlags: {},
  virNodeGetCPUStatsAllCPUs: { prefix: 'VIR_NODE_CPU_STATS_' },
  virNodeGetMemoryStatsAllCells: { prefix: 'VIR_NODE_MEMORY_STATS_' },
}

/** Names of typed parameters: every string `#define` with this prefix. */
export const texts: Readonly<Record<string, string>> = {
  MigrateParam: 'VIR_MIGRATE_PARAM_',
  DomainJobStat: 'VIR_DOMAIN_JOB_',
  DomainCpuStat: 'VIR_DOMAIN_CPU_STATS_',
  DomainBlockStat: 'VIR_DOMAIN_BLOCK_STATS_',
  DomainBlockCopyParam: 'VIR_DOMAIN_BLOCK_COPY_',
  DomainSaveParam: 'VIR_DOMAIN_SAVE_PARAM_',
  NodeCpuStat: 'VIR_NODE_CPU_STATS_',
  NodeMemoryStat: 'VIR_NODE_MEMORY_STATS_',
}
