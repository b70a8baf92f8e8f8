#compdef prefetch
# made by `prefetch completion zsh`
_prefetch_given() {
  local option value
  given=()
  for option in -c --config --cache-dir --state-dir --profile; do
    value=${opt_args[$option]:-${before[$option]}}
    if [[ -n $value ]]; then given+=($option ${value//\\:/:}); fi
  done
}
_prefetch_segments() {
  local -a given names
  _prefetch_given
  names=(${(f)"$(prefetch status $given 2>/dev/null)"})
  names=(${(M)names:#*$'\t'*})
  compadd -- ${names%%$'\t'*}
}
_prefetch_items() {
  local -a given names
  _prefetch_given
  names=(${(f)"$(prefetch list --state cached $given 2>/dev/null | head -n 1000 | cut -f 4)"})
  compadd -- $names
}
_prefetch() {
  local context state state_descr line ret=1
  typeset -A opt_args
  local curcontext="$curcontext"
  local -a shared commands
  commands=(
    'run:Make the cache equal to the configuration'
    'plan:Print what a run would do, and write nothing'
    'mirror:Keep a folder equal to a list, without a configuration'
    'get:Print or copy items, and fetch those that the cache lacks'
    'path:Print the local path of an item'\''s body'
    'list:Print the items of the cache'
    'status:Print the state of every segment'
    'explain:Explain why an item was, or would be, fetched or not'
    'verify:Hash all stored bodies again, and check every published file'
    'gc:Remove content that the cache need not keep'
    'serve:Serve the cache, or a folder, over HTTP on this machine'
    'publish:Make the published trees again, or switch one back'
    'freeze:Lock what is stored, so that runs refuse any other body'
    'init:Write a configuration to begin with'
    'check:Validate the configuration without asking any server'
    'config:Print the effective configuration'
    'schedule:Print the systemd units or the crontab line that start runs'
    'doctor:Check what a run needs on this machine'
    'pause:Make runs skip items'
    'resume:Let runs fetch paused items again'
    'lock:Protect stored items from removal and eviction'
    'unlock:Remove locks from items'
    'with-lock:Run a program while an item is locked'
    'rm:Remove items from the cache'
    'import:Store a file as the body of a URL, or all items of another cache'
    'log:Print what past runs changed'
    'event:start, stop, log, run, consume, list, flush'
    'manifest:build, check, sign'
    'subscribe:Add segments to the remembered subscriptions, then run'
    'unsubscribe:Drop segments from the remembered subscriptions, then run'
    'register:Register the license now, whatever the last result'
    'notify:Act on a push payload, if it is for this program'
    'network:Print the state of the network, and what the rules allow'
    'pins:Print the pins of a host as configuration text'
    'stats:Print figures over past runs'
    'export:Copy the content of the cache into a new cache'
    'env:Print the variables that point tools at published trees'
    'completion:Print the completion script for a shell'
    'help:Print help on the program, a command, a group of commands or the exit codes'
  )
  shared=(
    '*-c+[Read this configuration; repeated, later files are merged over earlier ones; - is standard input]:FILE:_files'
    '*--config=[Read this configuration; repeated, later files are merged over earlier ones; - is standard input]:FILE:_files'
    '*--set=[Set one key of the configuration, such as network.concurrency=4 or segments.NAME.ttl=1h, but no secret]:KEY=VALUE: '
    '(--profile)--profile=[Put the values of this profile over the others of the configuration]:NAME: '
    '(--cache-dir)--cache-dir=[Folder of the cache, instead of ~/.cache/prefetch]:DIR:_files -/'
    '(--state-dir)--state-dir=[Folder of subscriptions, quotas and past runs, instead of ~/.local/state/prefetch]:DIR:_files -/'
    '(--manifests)--manifests=[URL of the manifests of segments that have only a name; it contains {segment}]:TEMPLATE: '
    '(--network)--network=[Assume this network instead of detecting it\: ethernet, wifi or cellular; metered if it costs by volume]:TYPE\[,metered\]:(ethernet wifi cellular ethernet,metered wifi,metered cellular,metered)'
    '(--json)--json[Print the result as one JSON document]'
    '(-q --quiet)-q[Print no report if all is well, and no progress]'
    '(-q --quiet)--quiet[Print no report if all is well, and no progress]'
    '*-v[Print failures, their connections, and waits; given twice, print every request with both heads]'
    '*--verbose[Print failures, their connections, and waits; given twice, print every request with both heads]'
    '(--color)--color=[Use colour always, never, or as the terminal suggests (auto)]:WHEN:(auto always never)'
    '(--progress)--progress=[Show progress always (in plain lines if nothing can be drawn), never, or on a terminal only (auto)]:WHEN:(auto always never)'
    '(--log-format)--log-format=[Write messages as text, or as one JSON object a line (json)]:FORMAT:(text json)'
    '(--log-file)--log-file=[Append messages to this file instead of writing them to standard error]:FILE:_files'
    '(-V --version)-V[Print the versions of the program and its libraries]'
    '(-V --version)--version[Print the versions of the program and its libraries]'
    '(-h --help)-h[Print help on the program or on a command]'
    '(-h --help)--help[Print help on the program or on a command]'
  )
  _arguments -s -S -C $shared ': :->command' '*::: :->operands' && ret=0
  case $state in
  command) _describe -t commands command commands && ret=0 ;;
  operands)
    local name=$line[1]
    local -A before=("${(@kv)opt_args}")
    case $name in
    event | manifest)
      local -i place=1
      while ((place < CURRENT)) && [[ ${words[place]} == -* ]]; do ((place += 1)); done
      if ((place == CURRENT)); then
        case $name in
      event)
        local -a actions=('start:Begin an event that lasts' 'stop:End an event that lasts, and record it' 'log:Record that something happened now' 'run:Run a program, and record how long it took and how it ended' 'consume:Record that an item, or a part of it, was seen' 'list:Print the events that wait to be sent, and those that are open' 'flush:Send the events that wait now')
        _describe -t actions action actions && ret=0
        ;;
      manifest)
        local -a actions=('build:Write a manifest of the files in a folder' 'check:Describe a manifest, and list its faults' 'sign:Sign a manifest so that readers can verify its publisher')
        _describe -t actions action actions && ret=0
        ;;
        esac
        return ret
      fi
      name+=" ${words[place]}"
      shift $((place - 1)) words
      ((CURRENT -= place - 1))
      ;;
    *)
      words=($name "${words[@]}")
      ((CURRENT += 1))
      ;;
    esac
    curcontext="${curcontext%:*:*}:prefetch-command-${name// /-}:"
    case $name in
    run)
      _arguments -s -S $shared \
        '(-n --dry-run)-n[Ask servers, write nothing, print the plan]' \
        '(-n --dry-run)--dry-run[Ask servers, write nothing, print the plan]' \
        '(--no-probe)--no-probe[In a dry run, request manifests only, no single items]' \
        '(--splay)--splay=[Begin after a random delay of at most D, to spread machines]:D: ' \
        '(--detailed-exitcode)--detailed-exitcode[End with 2 instead of 0 when there are changes]' \
        '(-j --jobs)-j+[Run at most N transfers at once]:N: ' \
        '(-j --jobs)--jobs=[Run at most N transfers at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop cleanly after this time; the next run continues]:D: ' \
        '(--offline)--offline[Ask no server; use only the cache]' \
        '(--revalidate)--revalidate[Revalidate every item, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Also write the report to this path, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--frozen)--frozen[Take only what the lock file names]' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*--allow=[Accept once a manifest that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change); age takes bodies below min_age]:GUARD:(mass-removal rollback list-change age)' \
        '(--shard)--shard=[Do part I of N, I from 0, or the part that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:SEGMENT:_prefetch_segments' && ret=0
      ;;
    plan)
      _arguments -s -S $shared \
        '(--no-probe)--no-probe[In a dry run, request manifests only, no single items]' \
        '(--splay)--splay=[Begin after a random delay of at most D, to spread machines]:D: ' \
        '(--detailed-exitcode)--detailed-exitcode[End with 2 instead of 0 when there are changes]' \
        '(-j --jobs)-j+[Run at most N transfers at once]:N: ' \
        '(-j --jobs)--jobs=[Run at most N transfers at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop cleanly after this time; the next run continues]:D: ' \
        '(--offline)--offline[Ask no server; use only the cache]' \
        '(--revalidate)--revalidate[Revalidate every item, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Also write the report to this path, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--frozen)--frozen[Take only what the lock file names]' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*--allow=[Accept once a manifest that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change); age takes bodies below min_age]:GUARD:(mass-removal rollback list-change age)' \
        '(--shard)--shard=[Do part I of N, I from 0, or the part that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:SEGMENT:_prefetch_segments' && ret=0
      ;;
    mirror)
      _arguments -s -S $shared \
        '(--base-url)--base-url=[Base URL for relative names in LIST; by default the URL of LIST]:URL: ' \
        '(--layout)--layout=[Names by URL (url), last part (basename), or for a tool]:L:(url basename npm pip go bazel cargo yarn hls hf)' \
        '(--cut-dirs)--cut-dirs=[Leave out the first N folders of each name, after the host]:N: ' \
        '(--adopt)--adopt[Take over files in DIR that equal the items]' \
        '(--atomic)--atomic[Switch DIR/current to the next whole tree, or leave it as it is]' \
        '(--include-list)--include-list[Also keep the list and its signature in DIR]' \
        '(--select)--select=[Take the newest version of names such as tool-@v.gz]:NAME: ' \
        '(--newest)--newest=[Take the newest N versions]:N: ' \
        '(--order)--order=[Order of versions, instead of version]:VALUE:(version natural semver debian date)' \
        '(--limit-rate)--limit-rate=[Most bytes a second, such as 20MB/s, or a timetable]:R: ' \
        '(-n --dry-run)-n[Ask servers, write nothing, print the plan]' \
        '(-n --dry-run)--dry-run[Ask servers, write nothing, print the plan]' \
        '(--no-probe)--no-probe[In a dry run, request manifests only, no single items]' \
        '(--splay)--splay=[Begin after a random delay of at most D, to spread machines]:D: ' \
        '(--detailed-exitcode)--detailed-exitcode[End with 2 instead of 0 when there are changes]' \
        '(-j --jobs)-j+[Run at most N transfers at once]:N: ' \
        '(-j --jobs)--jobs=[Run at most N transfers at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop cleanly after this time; the next run continues]:D: ' \
        '(--offline)--offline[Ask no server; use only the cache]' \
        '(--revalidate)--revalidate[Revalidate every item, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Also write the report to this path, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--frozen)--frozen[Take only what the lock file names]' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*--allow=[Accept once a manifest that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change); age takes bodies below min_age]:GUARD:(mass-removal rollback list-change age)' \
        '(--shard)--shard=[Do part I of N, I from 0, or the part that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:LIST DIR:_files' && ret=0
      ;;
    get)
      _arguments -s -S $shared \
        '(--provider)--provider=[Provider of the items named by --id]:P: ' \
        '*--id=[Id of an item of the provider]:ID: ' \
        '(--type)--type=[Type of the items if nothing declares it, such as video]:TYPE: ' \
        '(--behavior)--behavior=[Deliver items and store their thumbnails (all), deliver thumbnails instead (thumbnails), or only stored bodies (none)]:WHAT:(all thumbnails none)' \
        '(--quality)--quality=[Quality of streams, instead of the configured one\: low, medium, high, or auto by the speed of past downloads]:Q:(auto low medium high)' \
        '(--offline)--offline[Ask no server; an item that is not cached ends with 4]' \
        '(--revalidate)--revalidate[Ask conditionally, even if the cached copy is fresh]' \
        '(--max-age)--max-age=[Treat a cached copy as fresh only if it is at most this old]:D: ' \
        '(--max-stale)--max-stale=-[Use a cached copy that expired at most this long ago, or at any time]::D: ' \
        '(-o --output)-o+[Write the body to this file (- is standard output, even a terminal), or the bodies into this folder (DIR/)]:PATH:_files' \
        '(-o --output)--output=[Write the body to this file (- is standard output, even a terminal), or the bodies into this folder (DIR/)]:PATH:_files' \
        '(--base-url)--base-url=[Base URL for relative names in a manifest on standard input]:URL: ' \
        '(--sha256)--sha256=[Accept the item only with this SHA-256, as a list would declare it]:HEX: ' \
        '(--path)--path[Print the local paths instead of the bodies]' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    path)
      _arguments -s -S $shared \
        '(--or-url)--or-url[Print the URL when the item is not cached]' \
        '(--under)--under=[Print its URL on the serve at this address, such as http\://127.0.0.1\:7733/]:BASE: ' \
        ':ITEM:_prefetch_items' && ret=0
      ;;
    list)
      _arguments -s -S $shared \
        '*--segment=[Only items of this segment]:SEGMENT:_prefetch_segments' \
        '*--state=[Only items in one of these states]:STATE,…:(pending discovered queued downloading idle paused cached partial failed deleted)' \
        '*--type=[Only items of this type, or of one of several with commas between]:TYPE: ' \
        '*--category=[Only items in one of these categories]:NAME,…: ' \
        '*--parent=[Only items in categories that are part of this one]:NAME: ' \
        '(--search)--search=[Only items with this text in their URL, id, provider, title, info or categories]:TEXT: ' \
        '*--provider=[Only items of this provider]:P: ' \
        '*--id=[Only the item with this id]:ID: ' \
        '*--url=[Only items whose URL matches, such as https\://example.org/*.json]:URL: ' \
        '(--locked)--locked[Only items that are protected from removal]' \
        '(--unconsumed)--unconsumed[Only items that no record marks as consumed]' \
        '(--identities)--identities[Print the configurations that use the cache, with their items, bytes and last runs]' \
        '(--sort)--sort=[Order by these keys, -KEY from high to low\: name, url, id, provider, segment, state, type, size, fetched, validated, expires or used]:KEY,…:(name url id provider segment state type size fetched validated expires used)' \
        ':: :' && ret=0
      ;;
    status)
      _arguments -s -S $shared \
        '(--max-age)--max-age=[End with 3 if the last success of a segment is older than this]:D: ' \
        '(--nagios)--nagios[Print one line and end with 0 to 3, as monitoring plug-ins do]' \
        '(--critical-age)--critical-age=[With --nagios\: the age that is critical, by default twice --max-age]:D: ' \
        ':: :' && ret=0
      ;;
    explain)
      _arguments -s -S $shared \
        ':ITEM:_prefetch_items' && ret=0
      ;;
    verify)
      _arguments -s -S $shared \
        '(--repair)--repair[Drop damaged bodies and changed published files, so that the next run brings them]' \
        ':: :' && ret=0
      ;;
    gc)
      _arguments -s -S $shared \
        '*--forget=[Also remove the content of the configuration with this name or file]:IDENTITY: ' \
        '(-n --dry-run)-n[Print what would go, and change nothing]' \
        '(-n --dry-run)--dry-run[Print what would go, and change nothing]' \
        ':: :' && ret=0
      ;;
    serve)
      _arguments -s -S $shared \
        '(--pull)--pull[Fetch what is missing or stale]' \
        '(--max-stale)--max-stale=-[With --pull\: if a server does not answer, serve a copy that expired at most this long ago, or at any time]::D: ' \
        '(--origin)--origin=[Serve this folder and nothing else]:DIR:_files -/' \
        '(--base-url)--base-url=[Serve the content below this URL at /, for tools that use one server only]:URL: ' \
        '(--listen)--listen=[Listen on this address and port instead of 127.0.0.1\:7733; port 0 is any free port]:A\:P: ' \
        '(--allow-origin)--allow-origin=[Let web pages of this origin use the server; null is for pages without one]:ORIGIN: ' \
        '(--token-file)--token-file=[Also accept paths that begin with /-/t/ and the token in this file]:FILE:_files' \
        '(--events-in)--events-in[Record objects that pages POST to /-/event with the token]' \
        '(--ready-fd)--ready-fd=[Also write the line with the URL to this descriptor, and close it]:N: ' \
        '(--for)--for=[End with 0 after this time]:D: ' \
        '(--events)--events=[Write serve.started and serve.stopped to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        ':: :' && ret=0
      ;;
    publish)
      _arguments -s -S $shared \
        '(--rollback)--rollback=[Show the previous generation of this segment'\''s tree again]:SEGMENT:_prefetch_segments' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*:SEGMENT:_prefetch_segments' && ret=0
      ;;
    freeze)
      _arguments -s -S $shared \
        '(-o --output)-o+[Write this file instead; - is standard output]:PATH:_files' \
        '(-o --output)--output=[Write this file instead; - is standard output]:PATH:_files' \
        '(--check)--check[Say what would change, and write nothing]' \
        '(--update)--update[Fetch what servers have now, then write the file]' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*:SEGMENT|GLOB:_prefetch_segments' && ret=0
      ;;
    init)
      _arguments -s -S $shared \
        '(--from)--from=[Declare this list or Info.plist; a list may be a URL]:FILE:_files' \
        '(--base-url)--base-url=[Base URL for relative names in the list]:URL: ' \
        '(-o --output)-o+[Write this file instead; - is standard output]:PATH:_files' \
        '(-o --output)--output=[Write this file instead; - is standard output]:PATH:_files' \
        ':: :' && ret=0
      ;;
    check)
      _arguments -s -S $shared \
        '(--no-secrets)--no-secrets[Accept unset ${env\:…}, ${file\:…} and ${credential\:…} as placeholders, for CI]' \
        ':: :' && ret=0
      ;;
    config)
      _arguments -s -S $shared \
        '(--format)--format=[Print yaml or json]:FORMAT:(yaml json)' \
        '(--origins)--origins[Print where each value came from]' \
        '(--schema)--schema[Print the JSON Schema of the configuration instead]' \
        ':: :' && ret=0
      ;;
    schedule)
      _arguments -s -S ${shared:#*--json*} \
        '(--at)--at=[Start times\: OnCalendar= of systemd, or five fields of cron]:TIME: ' \
        '(--user)--user=[Run as this user, and list what you must create for the user]:NAME: ' \
        '(--serve)--serve[Print the unit of a server for the same cache]' \
        '(--pull)--pull[With --serve\: let the server fetch what is missing]' \
        '(--output-dir)--output-dir=[Write the units to this folder instead of printing them]:DIR:_files -/' \
        ':systemd|cron:(systemd cron)' && ret=0
      ;;
    doctor)
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    pause)
      _arguments -s -S $shared \
        '(--provider)--provider=[Provider of the items, which you then name by their ids]:P: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    resume)
      _arguments -s -S $shared \
        '(--provider)--provider=[Provider of the items, which you then name by their ids]:P: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    lock)
      _arguments -s -S $shared \
        '(--provider)--provider=[Provider of the items, which you then name by their ids]:P: ' \
        '(--for)--for=[Unlock by itself after this time]:D: ' \
        '(--pid)--pid=[Unlock by itself when this process of this machine has ended]:N: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    unlock)
      _arguments -s -S $shared \
        '(--provider)--provider=[Provider of the items, which you then name by their ids]:P: ' \
        '(--pid)--pid=[Remove only the lock of this process]:N: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    with-lock)
      _arguments -s -S ${shared:#*--json*} \
        '*:WORD: ' && ret=0
      ;;
    rm)
      _arguments -s -S $shared \
        '(--provider)--provider=[Provider of the items, which you then name by their ids]:P: ' \
        '(--files-only)--files-only[Remove the bodies, and keep the records of the items]' \
        '(--keep-thumbnail)--keep-thumbnail[Keep the thumbnails of the items]' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    import)
      _arguments -s -S $shared \
        '(--cache)--cache=[Take the items of the cache in DIR]:DIR:_files -/' \
        '(--url)--url=[URL that the file is the body of]:URL: ' \
        '(--provider)--provider=[Provider of the item]:P: ' \
        '(--id)--id=[Id of the item, by default made from the URL]:ID: ' \
        '(--type)--type=[Type of the item, such as video or image; by default file]:TYPE: ' \
        '::FILE: ' && ret=0
      ;;
    log)
      _arguments -s -S $shared \
        '(--since)--since=[Only entries since this long ago]:D: ' \
        '::ITEM|SEGMENT:_prefetch_segments' && ret=0
      ;;
    'event start')
      _arguments -s -S $shared \
        ':NAME: ' && ret=0
      ;;
    'event stop')
      _arguments -s -S $shared \
        ':NAME: ' && ret=0
      ;;
    'event log')
      _arguments -s -S $shared \
        ':NAME: ' && ret=0
      ;;
    'event run')
      _arguments -s -S ${shared:#*--json*} \
        '*:WORD: ' && ret=0
      ;;
    'event consume')
      _arguments -s -S $shared \
        '(--from)--from=[Second at which the seen part begins]:S: ' \
        '(--to)--to=[Second at which the seen part ends]:S: ' \
        '(--length)--length=[Length of the item]:S: ' \
        '(--at)--at=[Time at which it was seen, by default now]:TIME: ' \
        ':ITEM:_prefetch_items' && ret=0
      ;;
    'event list')
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    'event flush')
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    'manifest build')
      _arguments -s -S ${shared:#*--json*} \
        '(--base-url)--base-url=[URL below which readers find the files]:URL: ' \
        '(-o --output)-o+[Write the manifest to this file, whole or not at all, instead of standard output]:PATH:_files' \
        '(-o --output)--output=[Write the manifest to this file, whole or not at all, instead of standard output]:PATH:_files' \
        '(--ndjson)--ndjson[Write one item a line, for manifests of more than a million items]' \
        '(--segment)--segment=[Segment that the manifest is for; readers refuse it for any other]:SEGMENT:_prefetch_segments' \
        '(--priority)--priority=[Priority of the segment, 1 first]:N: ' \
        '(--generated)--generated=[State this time of making instead of now]:TIME: ' \
        '(--expires)--expires=[State that the manifest is valid for this long from the time of making]:D: ' \
        '*--include=[Take only files that match this, or another --include]:PATTERN: ' \
        '*--exclude=[Leave out files and folders that match this]:PATTERN: ' \
        '(--hidden)--hidden[Take files and folders whose names begin with a dot]' \
        '(--mime)--mime[State media types by file name extensions; readers refuse a file that its server labels otherwise]' \
        '(--previous)--previous=[Take over the digests of unchanged files from this earlier manifest]:FILE:_files' \
        ':DIR:_files -/' && ret=0
      ;;
    'manifest check')
      _arguments -s -S ${shared:#*--json*} \
        '(--base-url)--base-url=[URL at which a manifest from a file is published]:URL: ' \
        '*--key=[Trust this public key, given as RW… or as the file that holds it]:KEY:_files' \
        ':FILE|URL:_files' && ret=0
      ;;
    'manifest sign')
      _arguments -s -S ${shared:#*--json*} \
        '*--key=[Sign with the secret key in this file]:KEY:_files' \
        '(--password-file)--password-file=[Read the key'\''s password from the first line of this file; - is standard input]:FILE:_files' \
        '(--generated)--generated=[State this time of signing instead of now]:TIME: ' \
        '(--expires)--expires=[State that the manifest is valid for this long from the time of making]:D: ' \
        '(--comment)--comment=[Write this into the untrusted comment, which is not signed]:TEXT: ' \
        ':FILE:_files' && ret=0
      ;;
    subscribe)
      _arguments -s -S $shared \
        '(--only)--only[Subscribe to these segments and to no others]' \
        '(--no-run)--no-run[Change the subscriptions and fetch nothing yet]' \
        '(-j --jobs)-j+[Run at most N transfers at once]:N: ' \
        '(-j --jobs)--jobs=[Run at most N transfers at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop cleanly after this time; the next run continues]:D: ' \
        '(--offline)--offline[Ask no server; use only the cache]' \
        '(--revalidate)--revalidate[Revalidate every item, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Also write the report to this path, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--frozen)--frozen[Take only what the lock file names]' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*--allow=[Accept once a manifest that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change); age takes bodies below min_age]:GUARD:(mass-removal rollback list-change age)' \
        '(--shard)--shard=[Do part I of N, I from 0, or the part that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:NAME: ' && ret=0
      ;;
    unsubscribe)
      _arguments -s -S $shared \
        '(--all)--all[Drop every subscription]' \
        '(--no-run)--no-run[Change the subscriptions and remove nothing yet]' \
        '(-j --jobs)-j+[Run at most N transfers at once]:N: ' \
        '(-j --jobs)--jobs=[Run at most N transfers at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop cleanly after this time; the next run continues]:D: ' \
        '(--offline)--offline[Ask no server; use only the cache]' \
        '(--revalidate)--revalidate[Revalidate every item, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Also write the report to this path, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--frozen)--frozen[Take only what the lock file names]' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*--allow=[Accept once a manifest that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change); age takes bodies below min_age]:GUARD:(mass-removal rollback list-change age)' \
        '(--shard)--shard=[Do part I of N, I from 0, or the part that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:NAME:_prefetch_segments' && ret=0
      ;;
    register)
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    notify)
      _arguments -s -S $shared \
        '(-j --jobs)-j+[Run at most N transfers at once]:N: ' \
        '(-j --jobs)--jobs=[Run at most N transfers at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop cleanly after this time; the next run continues]:D: ' \
        '(--offline)--offline[Ask no server; use only the cache]' \
        '(--revalidate)--revalidate[Revalidate every item, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Also write the report to this path, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--frozen)--frozen[Take only what the lock file names]' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run, at most D, instead of ending with 75]::D: ' \
        '*--allow=[Accept once a manifest that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change); age takes bodies below min_age]:GUARD:(mass-removal rollback list-change age)' \
        '(--shard)--shard=[Do part I of N, I from 0, or the part that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        ':: :' && ret=0
      ;;
    network)
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    pins)
      _arguments -s -S $shared \
        ':HOST\[\:PORT\]: ' && ret=0
      ;;
    stats)
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    export)
      _arguments -s -S $shared \
        '(--new)--new[Leave out what the caches of cache.lower have]' \
        ':DIR: ' && ret=0
      ;;
    env)
      _arguments -s -S ${shared:#*--json*} \
        '(--shell)--shell=[Write the lines as sh, github, dotenv or plain]:FORM:(plain sh github dotenv)' \
        '(--strict)--strict[End with 4 if a segment'\''s tree is missing or not up to date]' \
        '*:SEGMENT:_prefetch_segments' && ret=0
      ;;
    completion)
      _arguments -s -S ${shared:#*--json*} \
        ':bash|zsh|fish:(bash zsh fish)' && ret=0
      ;;
    help)
      _arguments -s -S ${shared:#*--json*} \
        '(--all)--all[List every command, and the options that all commands share]' \
        '::COMMAND|GROUP|exit-codes:(run plan mirror get path list status explain verify gc serve publish freeze init check config schedule doctor pause resume lock unlock with-lock rm import log event manifest subscribe unsubscribe register notify network pins stats export env completion help everyday items events publisher machines exit-codes)' && ret=0
      ;;
    esac
    ;;
  esac
  return ret
}
if [[ $funcstack[1] == _prefetch ]]; then
  _prefetch "$@"
else
  compdef _prefetch prefetch
fi
