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
    'get:Print or copy items, fetched first where the cache lacks them'
    'path:Print the local path of an item'\''s body'
    'list:Print the items of the cache'
    'status:Print the state of every segment'
    'explain:Say why an item was, or would be, fetched or not'
    'verify:Hash everything stored again, and look at every published file'
    'gc:Drop what the cache need not keep'
    'serve:Serve the cache, or a folder, over HTTP on this machine'
    'publish:Make the published trees again, or switch one back'
    'init:Write a configuration to begin with'
    'check:Validate the configuration without asking any server'
    'config:Print the effective configuration'
    'schedule:Print what makes a scheduler begin the runs of a configuration'
    'doctor:Say what a run would find on this machine'
    'pause:Have runs leave items alone'
    'resume:Let runs fetch paused items again'
    'lock:Protect stored items from removal and eviction'
    'unlock:Take back locks'
    'with-lock:Run a program while an item is locked'
    'rm:Remove items from the cache'
    'import:Store a file as the body of a URL, or all items of another cache'
    'log:Print what past runs changed'
    'event:start, stop, log, run, consume, list, flush'
    'manifest:build, check, sign'
    'subscribe:Add segments to the remembered subscriptions, then run'
    'unsubscribe:Drop segments from the remembered subscriptions, then run'
    'register:Register the license now, whatever is remembered of it'
    'notify:Act on a push payload, if it is for this program'
    'network:Print what is seen of the network, and what the rules make of it'
    'pins:Print the pins of a host as configuration text'
    'stats:Print figures over past runs'
    'export:Write what is cached into a new cache'
    'env:Print the variables that point tools at published trees'
    'completion:Print the completion script for a shell'
    'help:Print help on the program, a command, a group of commands or the exit codes'
  )
  shared=(
    '*-c+[Read this configuration; given again, later files are merged over earlier ones; - is standard input]:FILE:_files'
    '*--config=[Read this configuration; given again, later files are merged over earlier ones; - is standard input]:FILE:_files'
    '*--set=[Set one key of the configuration, such as network.concurrency=4 or segments.NAME.ttl=1h; no secret]:KEY=VALUE: '
    '(--profile)--profile=[Put the values of this profile of the configuration over its others]:NAME: '
    '(--cache-dir)--cache-dir=[Keep the content here instead of in ~/.cache/prefetch]:DIR:_files -/'
    '(--state-dir)--state-dir=[Keep subscriptions, quotas and past runs here instead of in ~/.local/state/prefetch]:DIR:_files -/'
    '(--manifests)--manifests=[Find the manifests of segments given as a bare name at this URL, which holds {segment}]:TEMPLATE: '
    '(--network)--network=[Take the network for ethernet, wifi or cellular instead of looking, and for one that costs by volume]:TYPE\[,metered\]:(ethernet wifi cellular ethernet,metered wifi,metered cellular,metered)'
    '(--json)--json[Print the result as one JSON document]'
    '(-q --quiet)-q[Print no report when all is well, and no progress]'
    '(-q --quiet)--quiet[Print no report when all is well, and no progress]'
    '*-v[Say what fails, over what connection, and what is waited for; given twice, show every request with both heads]'
    '*--verbose[Say what fails, over what connection, and what is waited for; given twice, show every request with both heads]'
    '(--color)--color=[Use colour always, never, or as the terminal suggests (auto)]:WHEN:(auto always never)'
    '(--progress)--progress=[Show progress always, in plain lines where nothing can be drawn, never, or on a terminal only (auto)]:WHEN:(auto always never)'
    '(--log-format)--log-format=[Write messages as text, or as one JSON object a line (json)]:FORMAT:(text json)'
    '(--log-file)--log-file=[Append messages to this file instead of writing them to standard error]:FILE:_files'
    '(-V --version)-V[Print the version and those of the libraries]'
    '(-V --version)--version[Print the version and those of the libraries]'
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
        local -a actions=('build:Write a manifest of the files in a folder' 'check:Say what a manifest is and what is wrong with it' 'sign:Sign a manifest so that its readers know whose it is')
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
        '(--no-probe)--no-probe[In a dry run, ask for manifests only, not about single items]' \
        '(--splay)--splay=[Begin after a random delay of at most this long, so that many machines do not ask at once]:D: ' \
        '(--detailed-exitcode)--detailed-exitcode[End with 2 instead of 0 when there are changes]' \
        '(-j --jobs)-j+[Have at most N transfers in flight at once]:N: ' \
        '(-j --jobs)--jobs=[Have at most N transfers in flight at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop in good order after this time; what is left is deferred to the next run]:D: ' \
        '(--offline)--offline[Ask no server; know only what the cache knows]' \
        '(--revalidate)--revalidate[Ask for every item conditionally, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Write the report there too, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run to end, at most this long, instead of ending with 75]::D: ' \
        '*--allow=[Let a manifest pass this once that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change)]:GUARD:(mass-removal rollback list-change)' \
        '(--shard)--shard=[Do the I-th of N parts, I from 0, or the one that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:SEGMENT:_prefetch_segments' && ret=0
      ;;
    plan)
      _arguments -s -S $shared \
        '(--no-probe)--no-probe[In a dry run, ask for manifests only, not about single items]' \
        '(--splay)--splay=[Begin after a random delay of at most this long, so that many machines do not ask at once]:D: ' \
        '(--detailed-exitcode)--detailed-exitcode[End with 2 instead of 0 when there are changes]' \
        '(-j --jobs)-j+[Have at most N transfers in flight at once]:N: ' \
        '(-j --jobs)--jobs=[Have at most N transfers in flight at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop in good order after this time; what is left is deferred to the next run]:D: ' \
        '(--offline)--offline[Ask no server; know only what the cache knows]' \
        '(--revalidate)--revalidate[Ask for every item conditionally, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Write the report there too, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run to end, at most this long, instead of ending with 75]::D: ' \
        '*--allow=[Let a manifest pass this once that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change)]:GUARD:(mass-removal rollback list-change)' \
        '(--shard)--shard=[Do the I-th of N parts, I from 0, or the one that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:SEGMENT:_prefetch_segments' && ret=0
      ;;
    mirror)
      _arguments -s -S $shared \
        '(--base-url)--base-url=[Base URL for relative names in LIST; by default the URL of LIST]:URL: ' \
        '(--layout)--layout=[File naming\: by the url with its host, by its basename, or for a tool]:L:(url basename npm pip go bazel cargo yarn hls)' \
        '(--cut-dirs)--cut-dirs=[Leave out the first N folders of each name; the host is none of them]:N: ' \
        '(--adopt)--adopt[Take over files in DIR that are the items'\'' own bytes, instead of fetching them]' \
        '(--atomic)--atomic[Switch DIR/current to the next whole tree, or leave it as it is]' \
        '(--include-list)--include-list[Keep the list, and what signs it, in DIR as well]' \
        '(--limit-rate)--limit-rate=[Receive at most so much, such as 20MB/s, or by a timetable as network.rate has it]:R: ' \
        '(-n --dry-run)-n[Ask servers, write nothing, print the plan]' \
        '(-n --dry-run)--dry-run[Ask servers, write nothing, print the plan]' \
        '(--no-probe)--no-probe[In a dry run, ask for manifests only, not about single items]' \
        '(--splay)--splay=[Begin after a random delay of at most this long, so that many machines do not ask at once]:D: ' \
        '(--detailed-exitcode)--detailed-exitcode[End with 2 instead of 0 when there are changes]' \
        '(-j --jobs)-j+[Have at most N transfers in flight at once]:N: ' \
        '(-j --jobs)--jobs=[Have at most N transfers in flight at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop in good order after this time; what is left is deferred to the next run]:D: ' \
        '(--offline)--offline[Ask no server; know only what the cache knows]' \
        '(--revalidate)--revalidate[Ask for every item conditionally, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Write the report there too, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run to end, at most this long, instead of ending with 75]::D: ' \
        '*--allow=[Let a manifest pass this once that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change)]:GUARD:(mass-removal rollback list-change)' \
        '(--shard)--shard=[Do the I-th of N parts, I from 0, or the one that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:LIST DIR:_files' && ret=0
      ;;
    get)
      _arguments -s -S $shared \
        '(--provider)--provider=[The provider of the items named by --id]:P: ' \
        '*--id=[An item of the provider, by its id]:ID: ' \
        '(--type)--type=[What the items are, where nothing declares it, such as video]:TYPE: ' \
        '(--behavior)--behavior=[Bring the items and store their thumbnails (all), bring their thumbnails instead (thumbnails), or what is stored of them (none)]:WHAT:(all thumbnails none)' \
        '(--quality)--quality=[Take streams in this quality (low, medium, high, or auto by how the last ones came) instead of the configured one]:Q:(auto low medium high)' \
        '(--offline)--offline[Ask no server; what is not cached ends with 4]' \
        '(--revalidate)--revalidate[Ask conditionally, also where the cached copy is fresh]' \
        '(--max-age)--max-age=[Take a cached copy as fresh only when it is at most this old]:D: ' \
        '(--max-stale)--max-stale=-[Take a cached copy that expired at most this long ago, or at any time]::D: ' \
        '(-o --output)-o+[Write the body to this file (- is standard output, whatever that is), or the bodies into this folder (DIR/)]:PATH:_files' \
        '(-o --output)--output=[Write the body to this file (- is standard output, whatever that is), or the bodies into this folder (DIR/)]:PATH:_files' \
        '(--base-url)--base-url=[Base URL for relative names in a manifest on standard input]:URL: ' \
        '(--sha256)--sha256=[Take the item only with this SHA-256, as a list would declare it]:HEX: ' \
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
        '*--type=[Only items of this type, or of one of several with commas between them]:TYPE: ' \
        '*--category=[Only items in one of these categories]:NAME,…: ' \
        '*--parent=[Only items in categories that are a part of this one]:NAME: ' \
        '(--search)--search=[Only items with this text in their URL, id, provider, title, info or categories]:TEXT: ' \
        '*--provider=[Only items of this provider]:P: ' \
        '*--id=[Only the item with this id]:ID: ' \
        '*--url=[Only items whose URL matches, such as https\://example.org/*.json]:URL: ' \
        '(--locked)--locked[Only items that are protected from removal]' \
        '(--unconsumed)--unconsumed[Only items without a record that they were consumed]' \
        '(--identities)--identities[Print the configurations that use the cache, with their items, bytes and last runs]' \
        '(--sort)--sort=[Order by these keys, -KEY from high to low\: name, url, id, provider, segment, state, type, size, fetched, validated, expires or used]:KEY,…:(name url id provider segment state type size fetched validated expires used)' \
        ':: :' && ret=0
      ;;
    status)
      _arguments -s -S $shared \
        '(--max-age)--max-age=[End with 3 when the last success of a segment is longer ago than this]:D: ' \
        '(--nagios)--nagios[Print one line and end with 0 to 3, as monitoring plug-ins do]' \
        '(--critical-age)--critical-age=[With --nagios\: the age that is critical; twice --max-age unless it is given]:D: ' \
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
        '*--forget=[Also drop what the configuration of this name, or of this file, has left in the cache]:IDENTITY: ' \
        '(-n --dry-run)-n[Say what would go, and change nothing]' \
        '(-n --dry-run)--dry-run[Say what would go, and change nothing]' \
        ':: :' && ret=0
      ;;
    serve)
      _arguments -s -S $shared \
        '(--pull)--pull[Fetch what is not stored, or no longer fresh]' \
        '(--max-stale)--max-stale=-[With --pull\: when a server cannot be asked, serve a copy that expired at most this long ago, or at any time]::D: ' \
        '(--origin)--origin=[Serve this folder and nothing else]:DIR:_files -/' \
        '(--base-url)--base-url=[Serve what is below this URL at /, for tools that know one server alone]:URL: ' \
        '(--listen)--listen=[Listen on this address and port instead of 127.0.0.1\:7733; port 0 takes a free one]:A\:P: ' \
        '(--allow-origin)--allow-origin=[Let web pages of this origin use the server, or with null those without one]:ORIGIN: ' \
        '(--token-file)--token-file=[Take requests whose path begins with /-/t/ and the token in this file, too]:FILE:_files' \
        '(--events-in)--events-in[Record what is posted to /-/event with the token, as the commands event do]' \
        '(--ready-fd)--ready-fd=[Write the line with the URL to this descriptor too, and close it]:N: ' \
        '(--for)--for=[End with 0 after this time]:D: ' \
        '(--events)--events=[Write serve.started and serve.stopped to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        ':: :' && ret=0
      ;;
    publish)
      _arguments -s -S $shared \
        '(--rollback)--rollback=[Let the generation before the present one of this segment'\''s tree stand again]:SEGMENT:_prefetch_segments' \
        '(--wait)--wait=-[Wait for another run to end, at most this long, instead of ending with 75]::D: ' \
        '*:SEGMENT:_prefetch_segments' && ret=0
      ;;
    init)
      _arguments -s -S $shared \
        '(--from)--from=[Declare what this list or Info.plist says; a list may be a URL]:FILE:_files' \
        '(--base-url)--base-url=[Base URL for relative names in the list]:URL: ' \
        '(-o --output)-o+[Write this file instead; - is standard output]:PATH:_files' \
        '(-o --output)--output=[Write this file instead; - is standard output]:PATH:_files' \
        ':: :' && ret=0
      ;;
    check)
      _arguments -s -S $shared \
        '(--no-secrets)--no-secrets[Take unset ${env\:…}, ${file\:…} and ${credential\:…} as placeholders, as CI needs it]' \
        ':: :' && ret=0
      ;;
    config)
      _arguments -s -S $shared \
        '(--format)--format=[Print yaml or json]:FORMAT:(yaml json)' \
        '(--origins)--origins[Say where each value came from]' \
        '(--schema)--schema[Print the JSON Schema of the configuration instead]' \
        ':: :' && ret=0
      ;;
    schedule)
      _arguments -s -S ${shared:#*--json*} \
        '(--at)--at=[When, as the scheduler writes it\: OnCalendar= of systemd, or five fields of cron]:TIME: ' \
        '(--user)--user=[Have the runs belong to this user, and say what is to be made and owned for it]:NAME: ' \
        '(--serve)--serve[Give the unit of a server over the cache of these runs]' \
        '(--pull)--pull[With --serve\: a server that fetches what it does not have]' \
        '(--output-dir)--output-dir=[Write the units there instead of printing them]:DIR:_files -/' \
        ':systemd|cron:(systemd cron)' && ret=0
      ;;
    doctor)
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    pause)
      _arguments -s -S $shared \
        '(--provider)--provider=[The provider of the items, which are then named by their ids]:P: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    resume)
      _arguments -s -S $shared \
        '(--provider)--provider=[The provider of the items, which are then named by their ids]:P: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    lock)
      _arguments -s -S $shared \
        '(--provider)--provider=[The provider of the items, which are then named by their ids]:P: ' \
        '(--for)--for=[Unlock by itself after this time]:D: ' \
        '(--pid)--pid=[Unlock by itself when this process of this machine has ended]:N: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    unlock)
      _arguments -s -S $shared \
        '(--provider)--provider=[The provider of the items, which are then named by their ids]:P: ' \
        '(--pid)--pid=[Take back only the lock of this process]:N: ' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    with-lock)
      _arguments -s -S ${shared:#*--json*} \
        '*:WORD: ' && ret=0
      ;;
    rm)
      _arguments -s -S $shared \
        '(--provider)--provider=[The provider of the items, which are then named by their ids]:P: ' \
        '(--files-only)--files-only[Remove the bodies and keep what else is known of the items]' \
        '(--keep-thumbnail)--keep-thumbnail[Keep the thumbnails of the items]' \
        '*:ITEM:_prefetch_items' && ret=0
      ;;
    import)
      _arguments -s -S $shared \
        '(--cache)--cache=[Take the items of the cache in DIR]:DIR:_files -/' \
        '(--url)--url=[Whose body the file is]:URL: ' \
        '(--provider)--provider=[The provider of the item]:P: ' \
        '(--id)--id=[The id of the item; else made from the URL]:ID: ' \
        '(--type)--type=[What it is, such as video or image; else file]:TYPE: ' \
        '::FILE: ' && ret=0
      ;;
    log)
      _arguments -s -S $shared \
        '(--since)--since=[Only of so long ago and later]:D: ' \
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
        '(--from)--from=[Seen from this second on]:S: ' \
        '(--to)--to=[Seen up to this second]:S: ' \
        '(--length)--length=[How long the item is]:S: ' \
        '(--at)--at=[When it was seen, where that is not now]:TIME: ' \
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
        '(--base-url)--base-url=[The URL below which readers find the files]:URL: ' \
        '(-o --output)-o+[Write the manifest to this file, whole or not at all, instead of standard output]:PATH:_files' \
        '(-o --output)--output=[Write the manifest to this file, whole or not at all, instead of standard output]:PATH:_files' \
        '(--ndjson)--ndjson[Write an item a line, as manifests of more than a million items need it]' \
        '(--segment)--segment=[The segment that the manifest is for; readers refuse it for any other]:SEGMENT:_prefetch_segments' \
        '(--priority)--priority=[The importance of the segment, 1 first]:N: ' \
        '(--generated)--generated=[State this time of making instead of now]:TIME: ' \
        '(--expires)--expires=[State that this may be relied on for that long from the time of making]:D: ' \
        '*--include=[Take files that match this, or another one, alone]:PATTERN: ' \
        '*--exclude=[Leave out files and folders that match this]:PATTERN: ' \
        '(--hidden)--hidden[Take files and folders whose names begin with a dot]' \
        '(--mime)--mime[State media types by the names'\'' endings; readers refuse a file that its server calls otherwise]' \
        '(--previous)--previous=[Take over the digests of unchanged files from this earlier manifest]:FILE:_files' \
        ':DIR:_files -/' && ret=0
      ;;
    'manifest check')
      _arguments -s -S ${shared:#*--json*} \
        '(--base-url)--base-url=[Where a manifest that is read from a file is published]:URL: ' \
        '*--key=[Trust this public key, given as RW… or as the file that holds it]:KEY:_files' \
        ':FILE|URL:_files' && ret=0
      ;;
    'manifest sign')
      _arguments -s -S ${shared:#*--json*} \
        '*--key=[Sign with the secret key in this file]:KEY:_files' \
        '(--password-file)--password-file=[Read the key'\''s password from the first line of this file; - is standard input]:FILE:_files' \
        '(--generated)--generated=[State this time of signing instead of now]:TIME: ' \
        '(--expires)--expires=[State that this may be relied on for that long from the time of making]:D: ' \
        '(--comment)--comment=[Write this into the untrusted comment, which is not signed]:TEXT: ' \
        ':FILE:_files' && ret=0
      ;;
    subscribe)
      _arguments -s -S $shared \
        '(--only)--only[Subscribe to these segments and to no others]' \
        '(--no-run)--no-run[Change the subscriptions and fetch nothing yet]' \
        '(-j --jobs)-j+[Have at most N transfers in flight at once]:N: ' \
        '(-j --jobs)--jobs=[Have at most N transfers in flight at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop in good order after this time; what is left is deferred to the next run]:D: ' \
        '(--offline)--offline[Ask no server; know only what the cache knows]' \
        '(--revalidate)--revalidate[Ask for every item conditionally, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Write the report there too, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run to end, at most this long, instead of ending with 75]::D: ' \
        '*--allow=[Let a manifest pass this once that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change)]:GUARD:(mass-removal rollback list-change)' \
        '(--shard)--shard=[Do the I-th of N parts, I from 0, or the one that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:NAME: ' && ret=0
      ;;
    unsubscribe)
      _arguments -s -S $shared \
        '(--all)--all[Drop every subscription]' \
        '(--no-run)--no-run[Change the subscriptions and remove nothing yet]' \
        '(-j --jobs)-j+[Have at most N transfers in flight at once]:N: ' \
        '(-j --jobs)--jobs=[Have at most N transfers in flight at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop in good order after this time; what is left is deferred to the next run]:D: ' \
        '(--offline)--offline[Ask no server; know only what the cache knows]' \
        '(--revalidate)--revalidate[Ask for every item conditionally, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Write the report there too, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run to end, at most this long, instead of ending with 75]::D: ' \
        '*--allow=[Let a manifest pass this once that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change)]:GUARD:(mass-removal rollback list-change)' \
        '(--shard)--shard=[Do the I-th of N parts, I from 0, or the one that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
        '*:NAME:_prefetch_segments' && ret=0
      ;;
    register)
      _arguments -s -S $shared \
        ':: :' && ret=0
      ;;
    notify)
      _arguments -s -S $shared \
        '(-j --jobs)-j+[Have at most N transfers in flight at once]:N: ' \
        '(-j --jobs)--jobs=[Have at most N transfers in flight at once]:N: ' \
        '(--jobs-per-host)--jobs-per-host=[Open at most N connections to one host]:N: ' \
        '(--deadline)--deadline=[Stop in good order after this time; what is left is deferred to the next run]:D: ' \
        '(--offline)--offline[Ask no server; know only what the cache knows]' \
        '(--revalidate)--revalidate[Ask for every item conditionally, fresh ones included]' \
        '(--refetch)--refetch[Fetch every item again, unconditionally]' \
        '(--items)--items=[Report the changed items, or all]:WHICH:(changed all)' \
        '*--report=[Write the report there too, as text, json, ndjson, md, junit, prometheus or html; - is standard output, +PATH appends]:FORMAT=PATH:(text= json= ndjson= md= junit= prometheus= html=)' \
        '(--events)--events=[Write events as they happen, one JSON object a line, to a file or an open descriptor]:FD|FILE:_files' \
        '(--no-hooks)--no-hooks[Start none of the configuration'\''s hooks]' \
        '(--accept)--accept=[Treat these outcomes as success\: incomplete, nothing, unavailable or deferred]:NAME,…:(incomplete nothing unavailable deferred)' \
        '(--wait)--wait=-[Wait for another run to end, at most this long, instead of ending with 75]::D: ' \
        '*--allow=[Let a manifest pass this once that removes many items (mass-removal), is older than the stored one (rollback), or is another list than the mirror'\''s last (list-change)]:GUARD:(mass-removal rollback list-change)' \
        '(--shard)--shard=[Do the I-th of N parts, I from 0, or the one that SLURM, GitLab or Kubernetes gives to this job (env)]:I/N:(env)' \
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
        '(--all)--all[List every command, and the options that all of them share]' \
        '::COMMAND|GROUP|exit-codes:(run plan mirror get path list status explain verify gc serve publish init check config schedule doctor pause resume lock unlock with-lock rm import log event manifest subscribe unsubscribe register notify network pins stats export env completion help everyday items events publisher machines exit-codes)' && ret=0
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
