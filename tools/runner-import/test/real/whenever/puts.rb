set :output, 'log/whenever.log'
every :wednesday, :at => '9pm' do
  rake "deliver_email"
  puts 'started'
end
every 2.minutes do
  # nothing yet
end
