every 1.day,
      at: ['4:30 am',
           '6:00 pm'] do
  runner "Report.send(" \
         "1)"
  command "curl -s https://example.org/ping",
          output: { standard: 'log/ping.log' }
end
